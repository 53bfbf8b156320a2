"""Files that are images by their names, and their natural order."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from turngate.decoding import looks_like_image
from turngate.picture import EXTENSIONS

__all__ = [
    "IMAGE_SUFFIXES",
    "images_and_others",
    "images_below",
    "is_image_file",
    "is_image_name",
    "left_out_words",
    "natural",
]

IMAGE_SUFFIXES = frozenset({f".{extension}" for extension in EXTENSIONS.values()} | {".jpeg", ".tiff", ".apng"})
"""Suffixes of image files, lower case."""


def is_image_name(name: str) -> bool:
    """The name has an image's suffix and is not hidden."""
    return not name.startswith(".") and Path(name).suffix.lower() in IMAGE_SUFFIXES


def natural(text: str) -> list[tuple[int, int | str]]:
    """Sort key: `step_2` before `step_10`, whatever the case."""
    return [(0, int(word)) if word.isdecimal() else (1, word.lower()) for word in re.findall(r"\d+|\D+", text)]


def is_image_file(path: Path) -> bool:
    """A file that is an image by its name or, whatever it is called, by its bytes; hidden ones are none."""
    if path.name.startswith(".") or not path.is_file():
        return False
    return is_image_name(path.name) or looks_like_image(path)


def images_below(folder: Path, most: int | None = None) -> list[Path]:
    """Image files at or below `folder` in natural order of their paths, or the first `most` that are met.

    Hidden files and folders are left alone.
    """
    return images_and_others(folder, most)[0]


def images_and_others(folder: Path, most: int | None = None) -> tuple[list[Path], list[Path]]:
    """`images_below` and the files beside them that are no images, both in natural order of their paths."""
    images: list[Path] = []
    others: list[Path] = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted((name for name in folders if not name.startswith(".")), key=natural)
        for name in files:
            if not name.startswith("."):
                (images if is_image_file(Path(root, name)) else others).append(Path(root, name))
        if most is not None and len(images) >= most:
            break

    def place(file: Path) -> list[list[tuple[int, int | str]]]:
        return [natural(part) for part in file.relative_to(folder).parts]

    return sorted(images, key=place)[:most], sorted(others, key=place)


def left_out_words(others: Sequence[Path]) -> str:
    """Which files were left out, in one line; empty for none."""
    if not others:
        return ""
    shown = ", ".join(file.name for file in others[:3]) + (", ..." if len(others) > 3 else "")
    are = "1 file is no image" if len(others) == 1 else f"{len(others)} files are no images"
    return f"{are} that can be read (PNG, JPEG, WebP, AVIF, JPEG 2000, GIF, TIFF, BMP, PPM), and left out: {shown}"
