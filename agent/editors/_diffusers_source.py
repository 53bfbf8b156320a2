"""The folder that holds a pipeline: the user's own, or the hub's snapshot of a repository."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turngate.agent.editors.networks.torch_talk import hushed
from turngate.errors import MissingWeights
from turngate.weights.hub import check_repository, hub_problem, offline
from turngate.weights.version import fingerprint, snapshot_version

__all__ = ["Source", "download"]

_PICKLES = (".bin", ".ckpt", ".pt", ".pth")


@dataclass(frozen=True)
class Source:
    """A pipeline on this disk."""

    folder: Path
    version: str
    """`organisation/name@commit` of a snapshot, else `folder@fingerprint`; 12 hex digits."""
    fingerprint: str
    """Of model_index.json and every file of the pipeline's components."""
    index: dict[str, Any]
    """model_index.json: the pipeline's class and its components."""
    components: tuple[Path, ...]

    @classmethod
    def read(cls, folder: Path) -> Source:
        """Raises `MissingWeights` when the folder holds no pipeline."""
        try:
            index = json.loads((folder / "model_index.json").read_text(encoding="utf-8"))
            components = tuple(folder / name for name in index if (folder / name).is_dir())
        except (FileNotFoundError, NotADirectoryError):
            raise MissingWeights(
                f"{folder} has no model_index.json: give a folder as save_pretrained of a pipeline writes it"
            ) from None
        except (OSError, ValueError, TypeError):
            raise MissingWeights(f"{folder}/model_index.json cannot be read: fetch the model again") from None
        inside = [file for component in components for file in component.rglob("*") if file.is_file()]
        found = fingerprint(
            {file.relative_to(folder).as_posix(): file for file in (folder / "model_index.json", *inside)}
        )
        version = snapshot_version(folder) or f"{folder.resolve().name}@{found}"
        return cls(folder, version, found, index, components)

    def refuse_pickles(self) -> None:
        """Raise `MissingWeights` for a component that has pickle files and no safetensors."""
        for component in self.components:
            suffixes = {file.suffix for file in component.iterdir()}
            if ".safetensors" not in suffixes and suffixes.intersection(_PICKLES):
                raise MissingWeights(_only_pickles(str(component)))


def download(model: str, revision: str | None, variant: str | None, pickle: bool, local_only: bool) -> Path:
    """The snapshot of a repository; fetches what its pipeline needs unless it is in the hub's cache or `local_only`.

    Raises `MissingWeights` when it cannot be had, or only as pickle files and `pickle` is not allowed.
    """
    check_repository(model, "editor")
    with hushed(bars=True):
        from diffusers import DiffusionPipeline

        try:
            return Path(
                DiffusionPipeline.download(
                    model,
                    revision=revision,
                    variant=variant,
                    use_safetensors=None if pickle else True,
                    local_files_only=local_only or offline(),
                )
            )
        except (OSError, ValueError) as error:
            if "`safetensors` weights" in str(error):
                raise MissingWeights(_only_pickles(model)) from None
            raise hub_problem(error, model, revision, local_only, "editor") from None


def _only_pickles(where: str) -> str:
    return (
        f"{where} has no safetensors weights, only pickle files, which can run code: convert them, "
        "or set allow_pickle: true if you trust them"
    )
