"""What a call of a pipeline gave: pixels, the safety checker's word, and which of the asked settings did anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from turngate.agent.editors.diffusers.pipeline import default_of, parameters
from turngate.picture import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Canvas", "guidance_effects", "idle_guidance", "is_blanked", "pixels", "steps_done"]


_GUIDANCE = ("guidance_scale", "true_cfg_scale", "image_guidance_scale", "negative_prompt")


def pixels(output: Any) -> NDArray[np.uint8] | None:
    """The picture as H x W x 3 8-bit pixels; None when it holds numbers that are not finite."""
    values = np.asarray(output.images[0], dtype=np.float32)
    if not np.isfinite(values).all():
        return None
    return np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)


def is_blanked(output: Any) -> bool:
    """Whether the model's safety checker replaced the picture by a black one."""
    verdicts = (getattr(output, name, None) or () for name in ("nsfw_content_detected", "nsfw_detected"))
    return any(bool(one) for verdict in verdicts for one in verdict)


def guidance_effects(opened: Any, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """For each kind of guidance in the call: its value (the default where not given) and whether it acted.

    Classifier-free guidance runs the network with and without the prompt and needs a scale above 1 (arXiv 2207.12598,
    in the convention where 1 is no guidance). A guidance-distilled network takes the scale as an input instead, if it
    has that input at all. `true_cfg_scale` is classifier-free guidance on top of such a network and needs a negative
    prompt.
    """
    takes = parameters(type(opened))
    value = {name: given.get(name, default_of(type(opened), name)) for name in _GUIDANCE if name in takes}
    twice = _runs_twice(opened, value)
    effects = {name: {"value": asked, "acts": twice} for name, asked in value.items() if asked is not None}
    if "guidance_scale" in effects:
        effects["guidance_scale"]["acts"] = _scale_is_an_input(opened) or (twice and "true_cfg_scale" not in value)
    return effects


def idle_guidance(opened: Any, given: Mapping[str, Any]) -> list[str]:
    """Names of the kinds of guidance that were asked for and will not act, told before the first call.

    A pipeline says whether it guides from what its last call was given, so that is set as the next call will set it.
    """
    for name in ("guidance_scale", "true_cfg_scale", "image_guidance_scale"):
        if name in parameters(type(opened)):
            setattr(opened, f"_{name}", given.get(name, default_of(type(opened), name)))
    try:
        effects = guidance_effects(opened, given)
    except (AttributeError, TypeError):  # a pipeline that needs more of a call to know: the attempts then tell
        return []
    return [name for name, effect in effects.items() if name in given and not effect["acts"]]


def steps_done(opened: Any) -> int | None:
    """Denoising steps of the last call; None where the pipeline does not say."""
    done = getattr(opened, "num_timesteps", None)
    return None if done is None else int(done)


def _runs_twice(opened: Any, value: Mapping[str, Any]) -> bool:
    """Whether the last call used classifier-free guidance."""
    if "true_cfg_scale" in value:
        return _above(value["true_cfg_scale"]) and value.get("negative_prompt") is not None
    said = getattr(opened, "do_classifier_free_guidance", None)
    if said is not None:
        return bool(said)
    if _config_of_network(opened).get("guidance_embeds") is not None:
        return False
    image_scale = value.get("image_guidance_scale")
    return _above(value.get("guidance_scale")) and (image_scale is None or image_scale >= 1)


def _scale_is_an_input(opened: Any) -> bool:
    config = _config_of_network(opened)
    if config.get("time_cond_proj_dim") is not None:
        return True
    by_guidance = getattr(opened, "do_classifier_free_guidance", None) is None
    return by_guidance and bool(config.get("guidance_embeds"))


def _config_of_network(opened: Any) -> Mapping[str, Any]:
    network = getattr(opened, "transformer", None) or getattr(opened, "unet", None)
    config: Mapping[str, Any] = getattr(network, "config", None) or {}
    return config


def _above(scale: Any) -> bool:
    return isinstance(scale, int | float) and scale > 1


# The image that a pipeline is given, and how its answer gets back to the size that was asked for.


@dataclass(frozen=True)
class Canvas:
    """An input picture on a canvas whose sides are multiples of what the pipeline can make."""

    image: Image.Image
    """RGB. Padding repeats the last column and row, so nothing is resampled."""
    wanted: tuple[int, int]
    """Width and height of the result, pixels."""
    resized: bool
    """The input was resampled (Lanczos) because a size was configured."""

    @classmethod
    def of(cls, picture: Picture, size: tuple[int, int] | None, multiple: int) -> Canvas:
        """The picture at its own size, or at `size`, padded on the right and at the bottom."""
        image = Image.fromarray(picture.rgb)
        wanted = size or image.size
        resized = image.size != wanted
        if resized:
            image = image.resize(wanted, Image.Resampling.LANCZOS)
        right, bottom = -wanted[0] % multiple, -wanted[1] % multiple
        if right or bottom:
            image = Image.fromarray(np.pad(np.asarray(image), ((0, bottom), (0, right), (0, 0)), mode="edge"))
        return cls(image, wanted, resized)

    def cut(self, rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The result without the padding; a result of another size than the canvas is left as it is."""
        if (rgb.shape[1], rgb.shape[0]) != self.image.size:
            return rgb
        return rgb[: self.wanted[1], : self.wanted[0]]

    def flags(self, made: NDArray[np.uint8]) -> tuple[str, ...]:
        """What happened to the size, for the record; `made` is the pipeline's own result."""
        sizes = {"wanted": self.wanted, "canvas": self.image.size, "made": (made.shape[1], made.shape[0])}
        text = {name: f"{width}x{height}" for name, (width, height) in sizes.items()}
        found = []
        if self.resized:
            found.append(f"input_resized:{text['wanted']}")
        if self.image.size != self.wanted:
            found.append(f"padded:{text['wanted']}->{text['canvas']}")
        if text["made"] != text["canvas"]:
            found.append(f"size_not_followed:{text['canvas']}->{text['made']}")
        return tuple(found)
