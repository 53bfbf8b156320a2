"""The images below a folder, in natural order."""

from __future__ import annotations

import os
import re
from pathlib import Path

from turngate.errors import BadImage, UserError
from turngate.evaluators import Need
from turngate.evaluators.bulk.item import Item
from turngate.evaluators.image_source import ImageSource
from turngate.picture import EXTENSIONS, Picture
from turngate.rescoring.targets import Target
from turngate.traces.rescored.table import FILE_NAME

__all__ = ["folder_target"]

_SUFFIXES = {f".{extension}" for extension in EXTENSIONS.values()} | {".jpeg", ".tiff"}


def folder_target(path: Path, origin: Path | None = None, table: Path | None = None) -> Target:
    """All images at or below `path` (or the one image that it is); `origin` is what they are compared with.

    Hidden files are left alone. Raises `UserError` when there are none, `BadImage` for an origin that is none.
    """
    base = path if path.is_dir() else path.parent
    files = _images(path) if path.is_dir() else [path]
    if not files:
        raise UserError(
            f"{path} holds no run (run.json) and no images ({', '.join(sorted(_SUFFIXES))}): check the path"
        )
    shared = None if origin is None else _reference(origin)
    items = tuple(Item(file.relative_to(base).as_posix(), ImageSource(file), shared) for file in files)
    offers: set[Need] = {"candidate", "origin"} if shared else {"candidate"}
    return Target(str(path), table or base / FILE_NAME, items, len(items), frozenset(offers))


def _images(folder: Path) -> list[Path]:
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(root) / name for name in files if _is_image(name)]
    return sorted(found, key=lambda file: _natural(file.relative_to(folder)))


def _is_image(name: str) -> bool:
    return not name.startswith(".") and Path(name).suffix.lower() in _SUFFIXES


def _natural(path: Path) -> list[list[tuple[int, int | str]]]:
    """`step_2` before `step_10`."""
    return [
        [(0, int(word)) if word.isdecimal() else (1, word.lower()) for word in re.findall(r"\d+|\D+", part)]
        for part in path.parts
    ]


def _reference(path: Path) -> ImageSource:
    try:
        return ImageSource(path, Picture.from_file(path).sha256)
    except BadImage as error:
        raise BadImage(f"--origin: {error}") from None
