"""Brings together the weights that one metric opens, before pyiqa is asked for it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turngate.errors import ConfigError, MissingWeights
from turngate.evaluators._pyiqa_fetch import fetch
from turngate.evaluators._pyiqa_files import OURS, WeightFile, files_of
from turngate.weights.hub import offline
from turngate.weights.version import folder_version

__all__ = ["Weights", "gather", "named", "what_is_missing"]

_PICKLES = (".pth", ".pt", ".pkl", ".bin", ".ckpt")


@dataclass(frozen=True)
class Weights:
    """What to open, and what to tell pyiqa."""

    links: dict[WeightFile, Path | None]
    """Where each file lies that pyiqa can be made to look for elsewhere; None for our own numbers."""
    file: Path | None = None
    """The user's own file, whatever its name: `pretrained_model_path`."""
    model: Path | None = None
    """The user's folder of a transformers model."""
    fingerprint: str = ""
    """Of what the user gave; empty without."""


def named(metric: str) -> str:
    """The files of weights that a metric opens, in one line."""
    files = files_of(metric)
    return "as pyiqa fetches them" if files is None else ", ".join(file.name for file in files) or "none"


def what_is_missing(metric: str, weights: Path | None = None, local_only: bool = False) -> str | None:
    """Which files are not on this machine, in one line; None when all are, or when that is not known."""
    missing = ", ".join(file.name for file in files_of(metric) or () if not file.is_here(weights))
    if not missing:
        return None
    return f"weights that are not here: {missing} ({_why()})" if local_only else f"fetched at the first use: {missing}"


def gather(metric: str, weights: Path | None, local_only: bool, allow_pickle: bool) -> Weights:
    """Find or download everything; raises `MissingWeights` or `ConfigError` in one line."""
    name, files = f"pyiqa:{metric}", files_of(metric)
    given: dict[WeightFile, Path] = {}
    own = None
    if weights is not None:
        if weights.is_dir() and (weights / "config.json").is_file():
            return Weights({}, model=weights, fingerprint=folder_version(weights))
        given = _given(name, files or (), weights)
        own = weights if weights.is_file() and not given else None
        if not allow_pickle:
            for file, path in given.items():
                _refuse_code(name, path, file.sha256)
            if own is not None:
                _refuse_code(name, own)
    if files is None and local_only:
        raise MissingWeights(f"{name}: what it needs is not known, and {_why()}: nothing may be downloaded")
    # The user's own file takes the place of what pyiqa would load into its own network, not of the backbone.
    needed = [file for file in files or () if own is None or file.place != "pyiqa"]
    missing = [file for file in needed if file not in given and file.found() is None and file.name not in OURS]
    if missing and local_only:
        raise MissingWeights(_not_here(name, missing))
    for file in missing:
        if not file.is_repository:
            fetch(file, name)
    places = {file: given.get(file) or file.found() for file in needed if not file.is_repository}
    links = {file: path for file, path in places.items() if file.movable}
    return Weights(links, own, None, _fingerprint([*given.values(), *([own] if own else [])]))


def _given(name: str, files: Sequence[WeightFile], weights: Path) -> dict[WeightFile, Path]:
    if not weights.exists():
        raise MissingWeights(f"{name}: no weights at {weights}: check the path")
    given = {file: path for file in files if (path := file.given(weights)) is not None}
    if weights.is_dir() and not given:
        wanted = ", ".join(file.name for file in files if file.movable) or "a config.json and what belongs to it"
        raise MissingWeights(f"{name}: {weights} does not hold what it needs ({wanted}): check the folder")
    return given


def _not_here(name: str, missing: Sequence[WeightFile]) -> str:
    wanted = ", ".join(file.name if file.is_repository else str(file.home) for file in missing)
    hint = ", or give a folder that holds it as `weights`" if all(file.movable for file in missing) else ""
    return f"{name} needs {wanted}, and {_why()}, so nothing is downloaded: put it there{hint}"


def _why() -> str:
    return "TURNGATE_OFFLINE is set" if offline() else "local_files_only is set"


def _refuse_code(name: str, path: Path, sha256: str | None = None) -> None:
    """Raise `ConfigError` for a pickle that holds more than numbers: pyiqa would run what is in it.

    A file with a known `sha256` is what its authors published, and then it may (CLIP's are TorchScript).
    """
    if path.suffix.lower() not in _PICKLES or (sha256 is not None and _sha256(path) == sha256):
        return
    import torch

    try:
        torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a pickle may fail in any way
        raise ConfigError(
            f"{name}: {path} is damaged, or holds more than numbers and could run code when it is loaded "
            f"({type(error).__name__}): set `allow_pickle: true` only if you trust it"
        ) from error


def _fingerprint(paths: Sequence[Path]) -> str:
    return hashlib.sha256("".join(sorted(map(_sha256, paths))).encode()).hexdigest()[:8] if paths else ""


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
