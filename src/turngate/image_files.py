"""Files that are images by their names, and their natural order."""

from __future__ import annotations

import os
import re
from pathlib import Path

from turngate.picture import EXTENSIONS

__all__ = ["IMAGE_SUFFIXES", "images_below", "is_image_name", "natural"]

IMAGE_SUFFIXES = frozenset({f".{extension}" for extension in EXTENSIONS.values()} | {".jpeg", ".tiff", ".apng"})
"""Suffixes of image files, lower case."""


def is_image_name(name: str) -> bool:
    """The name has an image's suffix and is not hidden."""
    return not name.startswith(".") and Path(name).suffix.lower() in IMAGE_SUFFIXES


def natural(text: str) -> list[tuple[int, int | str]]:
    """Sort key: `step_2` before `step_10`, whatever the case."""
    return [(0, int(word)) if word.isdecimal() else (1, word.lower()) for word in re.findall(r"\d+|\D+", text)]


def images_below(folder: Path, most: int | None = None) -> list[Path]:
    """Image files at or below `folder` in natural order of their paths, or the first `most` that are met.

    Hidden files and folders are left alone.
    """
    found: list[Path] = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted((name for name in folders if not name.startswith(".")), key=natural)
        found += [Path(root) / name for name in files if is_image_name(name)]
        if most is not None and len(found) >= most:
            break
    ordered = sorted(found, key=lambda file: [natural(part) for part in file.relative_to(folder).parts])
    return ordered if most is None else ordered[:most]
