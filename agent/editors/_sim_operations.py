"""The requests other than an exact copy that a simulated editor carries out, and how often it fails to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from turngate.agent.ideal import grayscale, mirror, rotate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.picture import Picture

__all__ = ["FAILS", "Operated", "operate"]

FAILS = {"mirror": 0.15, "rotate": 0.5}
"""Probability that an operation is not carried out: the image comes back as it was. Ours; the paper reports that
mirroring fails on some images and that rotation mostly does."""


@dataclass(frozen=True)
class Operated:
    """The input after the operation, before any decay."""

    rgb: NDArray[np.uint8]
    """H x W x 3; W x H x 3 after a rotation."""
    failed: bool
    """The operation was asked for and not carried out."""


def operate(picture: Picture, kind: str, rng: np.random.Generator, failures: float) -> Operated:
    """Carry out the operation `kind`; `failures` multiplies the probabilities. What is no such operation changes
    nothing; a request to remove noise is one of those.
    """
    rgb = picture.rgb
    if rng.random() < failures * FAILS.get(kind, 0.0):
        return Operated(rgb, True)
    match kind:
        case "mirror":
            rgb = mirror(rgb)
        case "rotate":
            rgb = rotate(rgb)
        case "grayscale":
            rgb = grayscale(picture)
        case "recolorise" if _is_gray(rgb):
            rgb = _coloured(grayscale(picture))
    return Operated(rgb, False)


def _is_gray(rgb: NDArray[np.uint8]) -> bool:
    """No more colour than a tint and noise: differences of the channels hardly vary between blocks of 8 x 8 pixels."""
    height, width = (side // 8 for side in rgb.shape[:2])
    if not height or not width:  # smaller than a block
        return bool((rgb.max(axis=2) - rgb.min(axis=2)).max() <= 8)
    blocks = rgb[: 8 * height, : 8 * width].reshape(height, 8, width, 8, 3).mean(axis=(1, 3))
    return float(np.std(blocks[..., :2] - blocks[..., 1:], axis=(0, 1)).max()) < 3.0


def _coloured(gray: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Invented colours, from the luma alone: the original ones are not in a grayscale image."""
    levels = np.array([0, 60, 130, 200, 255])
    palette = np.array([[8, 10, 22], [66, 54, 58], [158, 122, 98], [208, 200, 188], [250, 253, 255]])
    table = np.stack([np.interp(np.arange(256), levels, palette[:, channel]) for channel in range(3)], axis=1)
    coloured: NDArray[np.uint8] = np.rint(table).astype(np.uint8)[gray[:, :, 0]]
    return coloured
