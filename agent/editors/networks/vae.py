"""A round trip through an autoencoder: what a latent-diffusion editor does to every pixel before it edits any."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.agent.editors.networks.tiny_vae import VaeFiles, load_network, repository_of
from turngate.component import ComponentConfig
from turngate.errors import MachineError, MissingWeights
from turngate.picture import Picture
from turngate.weights.hub import missing_model
from turngate.weights.torch_device import Device, out_of_memory, resolve_device, threads
from turngate.weights.version import check_same

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["VaeConfig", "VaeEditor"]

_MULTIPLE = 8
"""The encoder halves width and height three times."""


class VaeConfig(ComponentConfig):
    """Which autoencoder, and the noise that makes a retry meaningful."""

    paths: ClassVar[tuple[str, ...]] = ("folder", "encoder", "decoder")
    """Fields that are paths relative to the configuration file."""

    model: str = "taef2"
    """`taesd`, `taesdxl`, `taesd3`, `taef1` or `taef2`, or another repository with an AutoencoderTiny."""
    revision: str | None = None
    """Branch, tag or commit of the repository."""
    folder: Path | None = None
    """Take the files of `model` from this folder, not from the hub; relative to the configuration file."""
    encoder: Path | None = None
    """In place of `model`: the encoder's state dict in the original format (`.pth`, `.safetensors`); with `decoder`."""
    decoder: Path | None = None
    """The decoder's."""
    fingerprint: str | None = Field(default=None, pattern=r"^[0-9a-f]{12}$")
    """Set in run.json: the local files must still be these."""
    local_files_only: bool = False
    """Never download: the weights must be in the hub's cache already."""
    device: Device = "cpu"
    """The same pixels every time are promised on one CPU only."""
    threads: int = Field(default=1, ge=1, le=64)
    """CPU threads of one call."""
    dither: float = Field(default=0.5, ge=0, le=8)
    """Half width, in 8-bit levels, of the uniform noise that the seed adds before encoding; 0 for none."""
    latent_noise: float = Field(default=0.0, ge=0, le=3)
    """Standard deviation of the Gaussian noise that the seed adds to the latents; those of taef2 are at 0.9."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.encoder is None) != (self.decoder is None):
            raise ValueError("encoder and decoder go together: give both files or neither")
        if self.encoder is not None and self.folder is not None:
            raise ValueError("give a folder or the two files encoder and decoder, not both")
        return self

    def pinned(self) -> Self:
        """With the fingerprint of local files, so that a resumed run refuses others in their place."""
        files = _local_files(self)
        return self if files is None else self.model_copy(update={"fingerprint": files.fingerprint})


class VaeEditor:
    """A round trip through a tiny autoencoder (TAESD family) on every turn: encode, decode, nothing else.

    It ignores the instruction: it stands for the loss that every latent-diffusion editor adds, edit or not.
    """

    Config: ClassVar[type[ComponentConfig]] = VaeConfig
    requires: ClassVar[Mapping[str, str]] = {
        "diffusers": "diffusers",
        "torch": "diffusers",
        "transformers": "diffusers",
    }
    simulated = False
    paid = False

    def __init__(self, config: VaeConfig) -> None:
        """Load the weights; raises `MissingWeights` when they are not there or not of this family."""
        self.config = config
        self.stochastic = config.dither > 0 or config.latent_noise > 0
        self._device = resolve_device(config.device, "editor")
        files = _local_files(config)
        if files is None:
            files = VaeFiles.on_the_hub(config.model, config.revision, config.local_files_only)
        else:
            check_same(config.fingerprint, files.fingerprint, "editor", files.files[0].parent)
        self.model = files.version
        self._network = load_network(files.files, self._device)

    @classmethod
    def missing(cls, config: VaeConfig | None) -> str | None:
        """Weights: from the hub, or local files."""
        config = config or VaeConfig(type="vae")
        try:
            here = _local_files(config) is not None
        except MissingWeights as error:
            return str(error)
        return None if here else missing_model(repository_of(config.model), config.revision, None, "editor")

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """One round trip; the result is a PNG of the input's size.

        `NoImage("error")` when the network gives numbers that are not finite; `MachineError` when memory runs out.
        """
        rng = np.random.default_rng(request.seed)
        pixels = request.image.rgb.astype(np.float32)
        if self.config.dither:
            pixels += self.config.dither * (2 * rng.random(pixels.shape, dtype=np.float32) - 1)
        height, width = pixels.shape[:2]
        padded = np.pad(pixels, ((0, -height % _MULTIPLE), (0, -width % _MULTIPLE), (0, 0)), mode="edge")
        try:
            with threads(self.config.threads):
                made = self._round_trip(np.clip(padded / 127.5 - 1, -1, 1), rng)
        except Exception as error:
            if out_of_memory(error):
                raise MachineError(
                    f"{self.model} ran out of memory on {width} x {height} pixels: use a smaller origin, then resume"
                ) from error
            raise
        if not np.isfinite(made).all():
            why = "the network gave numbers that are not finite: its weights may be broken"
            return NoImage("error", why, retryable=False, model=self.model)
        rgb = np.clip(np.rint((made[:height, :width] + 1) * 127.5), 0, 255).astype(np.uint8)
        return Edited.of(Picture.from_rgb(rgb), model=self.model, metadata={"device": self._device})

    def _round_trip(self, pixels: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
        """H x W x 3 in -1..1, sides multiples of 8, to the same (not clipped)."""
        import torch

        with torch.inference_mode():
            planes = torch.from_numpy(pixels).to(self._device)[None].permute(0, 3, 1, 2)
            latents = self._network.encode(planes).latents
            if self.config.latent_noise:
                noise = self.config.latent_noise * rng.standard_normal(tuple(latents.shape), dtype=np.float32)
                latents = latents + torch.from_numpy(noise).to(self._device)
            decoded: NDArray[np.float32] = self._network.decode(latents).sample[0].permute(1, 2, 0).cpu().numpy()
        return decoded


def _local_files(config: VaeConfig) -> VaeFiles | None:
    if config.encoder is not None and config.decoder is not None:
        return VaeFiles.pair(config.encoder, config.decoder)
    if config.folder is not None:
        return VaeFiles.inside(config.folder, Path(config.model).name)
    return None
