"""How the scripted editor paints an image."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turngate.agent.editor import EditRequest

__all__ = ["paint"]


def paint(level: float, width: int, height: int, request: EditRequest, seed: int) -> NDArray[np.uint8]:
    """Height x width x 3 pixels of one gray `level` (0..1), except for the first row.

    The first row differs by up to 2 levels and names turn, attempt, seed and input, so that every answer has a hash
    of its own.
    """
    pixels = np.full((height, width, 3), round(level * 255), dtype=np.uint8)
    name = np.random.default_rng([request.turn, request.attempt, seed, int(request.image.sha256[:15], 16)])
    pixels[0] = np.clip(pixels[0].astype(int) + name.integers(-2, 3, pixels[0].shape), 0, 255)
    return pixels
