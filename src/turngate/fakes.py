"""What the shipped fakes have in common: seeded noise, and files of kinds that nobody asked for."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from turngate.picture import encode_png

__all__ = ["MODES", "add_noise", "save_as", "size_of"]


def size_of(argument: str) -> tuple[int, int]:
    """Width and height of `640x480`."""
    width, _, height = argument.partition("x")
    return int(width), int(height)


def add_noise(rgb: NDArray[np.uint8], deviation: float, seed: int) -> NDArray[np.uint8]:
    """Add Gaussian noise (8-bit levels) that the seed alone decides: the same seed adds up, other seeds average out."""
    noise = np.random.default_rng(seed).normal(0, deviation, rgb.shape)
    return np.clip(np.rint(rgb + noise), 0, 255).astype(np.uint8)


def save_as(mode: str, rgb: NDArray[np.uint8]) -> bytes:
    """Encode in one of `MODES`: what editors return when nobody asked for it."""
    return MODES[mode](rgb)


def _save(image: Image.Image, file_format: str = "PNG", exif: Image.Exif | None = None) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, file_format, **({} if exif is None else {"exif": exif}))
    return buffer.getvalue()


def _gray16(rgb: NDArray[np.uint8]) -> bytes:
    return _save(Image.fromarray((rgb.mean(axis=2) * 257).astype(np.uint16)))


def _rotated(rgb: NDArray[np.uint8]) -> bytes:
    """Stored a quarter turn to the left, with the EXIF note that says so."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return _save(Image.fromarray(rgb).transpose(Image.Transpose.ROTATE_90), "JPEG", exif)


MODES: dict[str, Callable[[NDArray[np.uint8]], bytes]] = {
    "png": encode_png,
    "jpeg": lambda rgb: _save(Image.fromarray(rgb), "JPEG"),
    "webp": lambda rgb: _save(Image.fromarray(rgb), "WEBP"),
    "rgba": lambda rgb: _save(Image.fromarray(rgb).convert("RGBA")),
    "palette": lambda rgb: _save(Image.fromarray(rgb).convert("P")),
    "cmyk": lambda rgb: _save(Image.fromarray(rgb).convert("CMYK"), "JPEG"),
    "gray16": _gray16,
    "exif": _rotated,
}
"""File type or colour mode -> encoder of H x W x 3 8-bit pixels."""
