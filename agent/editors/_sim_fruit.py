"""Paints a simple fruit: a shaded ball with a stem, in a colour that its name gives."""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from turngate.agent.editors.simulated.objects import RADIUS, Placed

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["painted"]

_KNOWN = {
    "apple": (200, 30, 35), "banana": (240, 215, 60), "orange": (245, 140, 25), "lemon": (250, 235, 70),
    "lime": (120, 190, 40), "pear": (190, 205, 80), "plum": (100, 40, 110), "cherry": (160, 10, 40),
    "blueberry": (70, 85, 160), "strawberry": (225, 40, 50), "kiwi": (130, 110, 60), "grape": (110, 50, 130),
}  # fmt: skip
"""Colours of the commonest fruits; all others get one from the hash of their name."""


def painted(rgb: NDArray[np.uint8], objects: Iterable[Placed]) -> NDArray[np.uint8]:
    """A copy of the image with clean objects painted over it, one after the other."""
    result = np.array(rgb)
    for one in objects:
        _paint(result, one)
    return result


def _paint(rgb: NDArray[np.uint8], one: Placed) -> None:
    height, width = rgb.shape[:2]
    radius = max(1.5, RADIUS * min(height, width))
    wide, tall = _shape(one.name)
    column, row = one.x * width, one.y * height
    reach = 1.6 * radius
    top, bottom = max(0, int(row - reach)), min(height, int(row + reach) + 1)
    left, right = max(0, int(column - reach)), min(width, int(column + reach) + 1)
    x = (np.arange(left, right) + 0.5 - column)[None, :] / radius
    y = (np.arange(top, bottom) + 0.5 - row)[:, None] / radius
    area = rgb[top:bottom, left:right].astype(np.float64)
    shadow = _cover(np.hypot(x / 1.15, (y - tall * 0.8) / 0.35), radius / 3) * 0.45
    area *= (1 - shadow)[:, :, None]
    inside = np.hypot(x / wide, y / tall)
    light = np.clip(1.15 - 0.75 * np.hypot(x / wide + 0.35, y / tall + 0.4), 0.25, 1.1)
    gloss = np.exp(-((x / wide + 0.35) ** 2 + (y / tall + 0.4) ** 2) / 0.04)
    body = light[:, :, None] * np.array(_colour(one.name)) + 150 * gloss[:, :, None]
    area += _cover(inside, radius)[:, :, None] * (body - area)
    stem = _cover(np.hypot((x - 0.12 * (y + tall)) / 0.1, (y + tall * 1.05) / 0.3), radius / 5)
    area += stem[:, :, None] * (np.array((90, 60, 30)) - area)
    rgb[top:bottom, left:right] = np.clip(np.rint(area), 0, 255)


def _cover(distance: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """1 inside, 0 outside, with a border about one pixel wide; `scale` is the pixels in one unit of distance."""
    covered: NDArray[np.float64] = np.clip((1 - distance) * scale + 0.5, 0, 1)
    return covered


def _colour(name: str) -> tuple[float, float, float]:
    known = _KNOWN.get(name.lower().split()[-1]) if name.split() else None
    if known is not None:
        return known
    digest = hashlib.sha256(name.encode()).digest()
    hue = -0.25 + 0.55 * digest[0] / 255  # purple to green, by way of red and yellow
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, 0.6 + digest[1] / 730, 0.65 + digest[2] / 850)
    return 255 * red, 255 * green, 255 * blue


def _shape(name: str) -> tuple[float, float]:
    """Half width and half height in radii: round, flat or long, by the name."""
    lean = hashlib.sha256(name.encode()).digest()[3] / 255 - 0.5
    return 1 - 0.3 * max(lean, 0), 1 + 0.3 * min(lean, 0)
