"""Any image-editing pipeline of diffusers, by repository or local folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.agent.editors.diffusers.answer import (
    Canvas,
    guidance_effects,
    idle_guidance,
    is_blanked,
    pixels,
    steps_done,
)
from turngate.agent.editors.diffusers.config import DiffusersConfig
from turngate.agent.editors.diffusers.pipeline import (
    SETTINGS,
    SMALLER,
    check_arguments,
    check_settings,
    default_of,
    multiple_of,
    open_pipeline,
    parameters,
    pipeline_class,
    takes_several_images,
)
from turngate.agent.editors.networks import hushed
from turngate.component import ComponentConfig
from turngate.errors import ConfigError, MachineError, one_line
from turngate.picture import Picture
from turngate.weights.hub import missing_model
from turngate.weights.torch_device import out_of_memory, resolve_device

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DiffusersConfig", "DiffusersEditor"]


class DiffusersEditor:
    """A diffusers pipeline: FLUX.2, FLUX.1 Kontext, Qwen-Image-Edit, InstructPix2Pix, image-to-image with SD, ..."""

    Config: ClassVar[type[ComponentConfig]] = DiffusersConfig
    requires: ClassVar[Mapping[str, str]] = {
        "diffusers": "diffusers",
        "torch": "diffusers",
        "transformers": "diffusers",
        "accelerate": "diffusers",
    }
    stochastic = True
    simulated = False
    paid = False

    def __init__(self, config: DiffusersConfig) -> None:
        """Find or fetch the model and load it.

        Raises `MissingWeights` when it is not there or does not load, `ConfigError` for a setting that the pipeline
        does not take, `MachineError` when it does not fit into memory.
        """
        self.config = config
        self._asked = {SETTINGS[name]: value for name in SETTINGS if (value := getattr(config, name)) is not None}
        self._device = resolve_device(config.device, "editor")
        source = config.source()
        self.model = source.version
        self._class = pipeline_class(source.index, source.version)
        check_settings(self._class, [name for name in SETTINGS if getattr(config, name) is not None])
        check_arguments(self._class, config.arguments)
        self._pipeline = open_pipeline(
            self._class, source, config.variant, config.allow_pickle, config.dtype, self._device, config.offload
        )
        self._multiple = multiple_of(self._pipeline)
        fields = {argument: name for name, argument in SETTINGS.items()}
        self.idle = [
            f"editor.{fields[argument]}: it has no effect in {self._class.__name__} with these settings"
            for argument in idle_guidance(self._pipeline, self._asked)
        ]
        if config.size and any(side % self._multiple for side in config.size):
            raise ConfigError(f"editor.size: {self._class.__name__} makes multiples of {self._multiple} pixels only")

    @classmethod
    def missing(cls, config: DiffusersConfig | None) -> str | None:
        """Weights: a repository on the hub, or a local folder."""
        if config is None:
            return None
        return missing_model(config.model, config.revision, config.folder, "editor", ("model_index.json",))

    @classmethod
    def outline(cls, config: DiffusersConfig) -> type[DiffusersEditor]:
        """The class: it says all that a run is checked by. Settings are held against the pipeline of a local folder."""
        if config.folder is not None:
            source = config.source()
            pipeline = pipeline_class(source.index, source.version)
            check_settings(pipeline, [name for name in SETTINGS if getattr(config, name) is not None])
            check_arguments(pipeline, config.arguments)
        return cls

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """One call of the pipeline, its noise drawn on the CPU from the request's seed; the result is a PNG.

        `NoImage("safety")` when the model's own safety checker blanked the picture, `NoImage("error")` when the
        pipeline failed or gave numbers that are not finite. Raises `MachineError` when memory runs out, `ConfigError`
        when the settings leave no denoising step or the pipeline cannot take a second image.
        """
        if len(request.images) > 1 and not takes_several_images(self._pipeline):
            raise ConfigError(f"history: {self._class.__name__} takes one image: use previous or origin, not anchor")
        canvases = [Canvas.of(picture, self.config.size, self._multiple) for picture in request.images]
        with hushed() as said:
            try:
                output = self._pipeline(**self._call(request, canvases))
            except Exception as error:
                return self._failed(error)
        if steps_done(self._pipeline) == 0:
            raise ConfigError(self._no_step())
        if is_blanked(output):
            return NoImage("safety", "the model's safety checker blanked the picture", model=self.model)
        made = pixels(output)
        if made is None:
            hint = "use dtype: bfloat16 or float32" if self.config.dtype == "float16" else "the weights may be broken"
            return NoImage("error", f"the pipeline gave numbers that are not finite: {hint}", False, model=self.model)
        return self._edited(request, canvases[0], made, said)

    def _call(self, request: EditRequest, canvases: list[Canvas]) -> dict[str, Any]:
        import torch

        width, height = canvases[0].image.size
        images = [canvas.image for canvas in canvases]
        size = {"width": width, "height": height, "max_area": width * height}
        return {
            **{name: value for name, value in size.items() if name in parameters(self._class)},
            **self._asked,
            **self.config.arguments,
            "prompt": request.instruction,
            "image": images if len(images) > 1 else images[0],
            "generator": torch.Generator("cpu").manual_seed(request.seed),
            "output_type": "np",
        }

    def _edited(self, request: EditRequest, canvas: Canvas, made: NDArray[np.uint8], said: list[str]) -> Edited:
        effects = guidance_effects(self._pipeline, self._asked)
        idle = [name for name, effect in effects.items() if name in self._asked and not effect["acts"]]
        cut_short = ["instruction_truncated"] if any("truncated" in text for text in said) else []
        metadata = {
            "pipeline": self._class.__name__,
            "device": self._device,
            "dtype": str(self._pipeline.dtype).removeprefix("torch."),
            "seed": request.seed,
            "steps": {"asked": self._asked_or_default("num_inference_steps"), "done": steps_done(self._pipeline)},
            "strength": self._asked_or_default("strength"),
            "guidance": effects,
            "size": {"given": list(canvas.image.size), "made": [made.shape[1], made.shape[0]]},
            "said": [text[:300] for text in said],
        }
        return Edited.of(
            Picture.from_rgb(canvas.cut(made)),
            model=self.model,
            flags=(*(f"{name}_has_no_effect" for name in idle), *canvas.flags(made), *cut_short),
            metadata=metadata,
        )

    def _failed(self, error: Exception) -> NoImage:
        if out_of_memory(error):
            raise MachineError(f"{self.model} ran out of memory on an image: {SMALLER}, then resume") from error
        strength, steps = self._asked_or_default("strength"), self._asked_or_default("num_inference_steps")
        if strength is not None and steps is not None and strength * steps < 1 and not steps_done(self._pipeline):
            raise ConfigError(self._no_step()) from error
        what = one_line(f"{type(error).__name__}: {error}", 500)
        return NoImage("error", what, retryable=False, model=self.model)

    def _no_step(self) -> str:
        strength, steps = self._asked_or_default("strength"), self._asked_or_default("num_inference_steps")
        return f"editor.strength: {strength} of {steps} steps leaves no denoising step: raise strength or steps"

    def _asked_or_default(self, argument: str) -> Any:
        if argument not in parameters(self._class):
            return None
        return self._asked.get(argument, default_of(self._class, argument))
