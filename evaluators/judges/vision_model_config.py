"""Where a vision-language model on this machine is, and how it runs."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from turngate.errors import ConfigError, MissingWeights
from turngate.part import PartConfig
from turngate.weights.hub import MODEL_FILES, check_repository, fetch
from turngate.weights.version import check_same, fingerprint, folder_files

__all__ = ["VisionModelConfig"]


class VisionModelConfig(PartConfig):
    """The model's place, its device, and how long it may talk."""

    paths: ClassVar[tuple[str, ...]] = ("folder",)
    """Fields that are paths relative to the configuration file."""

    model: str | None = None
    """Repository on the hub, for instance `Qwen/Qwen2.5-VL-7B-Instruct`. Only safetensors are read: they cannot run
    code."""
    revision: str | None = None
    """Branch, tag or commit of the repository; name a commit for runs that are to be repeated."""
    folder: Path | None = None
    """In place of `model`: a folder that holds what `save_pretrained` of a model and of its processor writes."""
    fingerprint: str | None = Field(default=None, pattern=r"^[0-9a-f]{12}$", validate_default=True)
    """Taken from the folder where it is left out, and so set in run.json: the folder must still hold these files."""
    local_files_only: bool = False
    """Never download: the model must be in the hub's cache already."""
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    """`auto` is CUDA where there is one, otherwise the CPU."""
    dtype: str = Field(default="auto", pattern=r"^(auto|float32|float16|bfloat16)$")
    """Type of the weights; `auto` is what they were saved as."""
    max_new_tokens: int = Field(default=1024, ge=1)
    """Longest answer. One that is cut there gives no score."""

    @field_validator("fingerprint")
    @classmethod
    def _of_the_folder(cls, given: str | None, info: ValidationInfo) -> str | None:
        """A resumed run so refuses another model in the same place."""
        folder = info.data.get("folder")
        if given is not None or folder is None or not folder.is_dir():
            return given
        return fingerprint(folder_files(folder))

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.model is None and self.folder is None:
            raise ConfigError("model: say where the model is: `model` (a repository) or `folder`")
        if self.folder is not None and self.revision is not None:
            raise ConfigError("revision: it is for a repository: a folder has none")
        return self

    def place(self) -> Path:
        """The model on this disk, fetched where that is needed and allowed.

        Raises `MissingWeights` when it cannot be had, `ConfigError` when the folder holds another one by now.
        """
        if self.folder is None:
            assert self.model is not None  # see _one_place
            check_repository(self.model, self.type)
            return fetch(self.model, self.revision, self.local_files_only, MODEL_FILES, self.type)
        if not self.folder.is_dir():
            raise MissingWeights(f"there is no folder {self.folder}: check {self.type}.folder")
        check_same(self.fingerprint, fingerprint(folder_files(self.folder)), self.type, self.folder)
        return self.folder
