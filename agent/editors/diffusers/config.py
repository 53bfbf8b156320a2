"""Settings of the editor `diffusers`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from turngate.agent.editors.diffusers.pipeline import Dtype, Offload, Source, download
from turngate.component import ComponentConfig
from turngate.weights.torch_device import Device
from turngate.weights.version import check_same

__all__ = ["DiffusersConfig"]

_Side = Annotated[int, Field(ge=8, le=16384)]


class DiffusersConfig(ComponentConfig):
    """Which model, and how it is called. A setting left out keeps the pipeline's own default."""

    paths: ClassVar[tuple[str, ...]] = ("folder",)
    """Fields that are paths relative to the configuration file."""

    model: str | None = None
    """Repository on the hub, for instance `timbrooks/instruct-pix2pix`."""
    revision: str | None = None
    """Branch, tag or commit of the repository; name a commit for runs that are to be repeated."""
    folder: Path | None = None
    """In place of `model`: a folder as a pipeline's `save_pretrained` writes it, relative to the configuration file."""
    fingerprint: str | None = Field(default=None, pattern=r"^[0-9a-f]{12}$")
    """Set in run.json: the folder must still hold these files."""
    variant: str | None = None
    """Files of the weights to take, for instance `fp16`."""
    allow_pickle: bool = False
    """Load pickle weights (`.bin`) where there are no safetensors; a pickle file can run code."""
    local_files_only: bool = False
    """Never download: the model must be in the hub's cache already."""
    device: Device = "auto"
    """`auto` is CUDA where there is one, then MPS, then the CPU."""
    dtype: Dtype = "auto"
    """Number format of weights and computation; `auto` is bfloat16 on CUDA and float32 elsewhere."""
    offload: Offload = "none"
    """Keep weights in main memory and move whole models (`model`) or single layers (`sequential`, slow) to the GPU."""
    steps: int | None = Field(default=None, ge=1, le=1000)
    """Denoising steps; with `strength` only that share of them is done."""
    guidance_scale: float | None = Field(default=None, ge=0, le=100)
    """Classifier-free guidance, or the guidance input of a distilled model."""
    true_cfg_scale: float | None = Field(default=None, ge=0, le=100)
    """Classifier-free guidance on top of a distilled model; needs a negative prompt."""
    image_guidance_scale: float | None = Field(default=None, ge=0, le=100)
    """How closely InstructPix2Pix keeps to the input image."""
    strength: float | None = Field(default=None, gt=0, le=1)
    """Image-to-image: share of the noise schedule that is run; 1 forgets the input."""
    negative_prompt: str | None = None
    """What the result should not look like."""
    size: tuple[_Side, _Side] | None = None
    """Width and height of every result, pixels; the input is resized to it. None: the result has the input's size."""
    arguments: dict[str, str | bool | int | float | None] = Field(default_factory=dict)
    """Further arguments of the pipeline's call, for instance `{max_sequence_length: 256}`."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.model is None) == (self.folder is None):
            raise ValueError("say where the pipeline is: either model (a repository) or folder")
        if self.folder is not None and self.revision is not None:
            raise ValueError("revision is for a repository: a folder has none")
        return self

    def pinned(self) -> Self:
        """With the fingerprint of the local folder, so that a resumed run refuses another model in its place."""
        if self.folder is None:
            return self
        return self.model_copy(update={"fingerprint": Source.read(self.folder).fingerprint})

    def source(self) -> Source:
        """The pipeline on this disk, fetched where that is needed and allowed.

        Raises `MissingWeights` when it cannot be had, `ConfigError` when the folder holds another one by now.
        """
        if self.folder is None:
            assert self.model is not None  # see _one_place
            fetched = download(self.model, self.revision, self.variant, self.allow_pickle, self.local_files_only)
            return Source.read(fetched)
        source = Source.read(self.folder)
        if not self.allow_pickle:
            source.refuse_pickles()
        check_same(self.fingerprint, source.fingerprint, "editor", self.folder)
        return source
