"""Photographs inside scikit-image's wheel, and edits that must not count as drift."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import skimage
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import shift

__all__ = ["CLEAN", "GREY", "MIXED", "SIDE", "TEST", "TUNING", "Edit", "jpeg", "photograph", "rounded"]

Rgb = NDArray[np.uint8]
Edit = Callable[[Rgb, np.random.Generator], Rgb]

TUNING = ("astronaut.png", "coffee.png", "rocket.jpg", "ihc.png")
"""Colour photographs that the alarm levels were set on."""
TEST = ("chelsea.png", "motorcycle_left.png", "hubble_deep_field.jpg", "retina.jpg")
"""Colour photographs for the tables."""
GREY = ("brick.png", "grass.png", "gravel.png", "camera.png", "moon.png", "coins.png", "clock_motion.png", "cell.png")
"""Textures and photographs without colour, for false alarms only."""

SIDE = 384
"""Pixels a side of the photographs of drift's tables."""
_KERNELS = (Image.Resampling.BICUBIC, Image.Resampling.LANCZOS)


def photograph(name: str, side: int = 800) -> Rgb:
    """RGB pixels, cut to multiples of 8 and the middle `side` pixels; more than 800 a side are shrunk to 600 first."""
    image = Image.open(Path(skimage.__file__).parent / "data" / name).convert("RGB")
    if max(image.size) > 800:
        scale = 600 / max(image.size)
        image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.LANCZOS)
    rgb = np.asarray(image)[: image.height // 8 * 8, : image.width // 8 * 8]
    height, width = (min(side, length) for length in rgb.shape[:2])
    top, left = (rgb.shape[0] - height) // 2, (rgb.shape[1] - width) // 2
    return rgb[top : top + height, left : left + width].copy()


def rounded(values: NDArray[np.floating[Any]]) -> Rgb:
    """To 8 bits."""
    eight_bit: Rgb = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return eight_bit


def jpeg(rgb: Rgb, quality: int) -> Rgb:
    """One JPEG round trip: chroma at half size up to quality 94, at full size from 95."""
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality, subsampling=2 if quality < 95 else 0)
    return np.asarray(Image.open(buffer).convert("RGB"))


def _resized(rgb: Rgb, width: int, height: int, rng: np.random.Generator) -> Rgb:
    return np.asarray(Image.fromarray(rgb).resize((width, height), _KERNELS[int(rng.integers(2))]))


def _crop(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    height, width = rgb.shape[:2]
    lost = [round(side * rng.uniform(0.005, 0.03)) for side in (height, width)]
    top, left = (int(rng.integers(0, pixels + 1)) for pixels in lost)
    return rgb[top : top + height - lost[0], left : left + width - lost[1]].copy()


def _crop_back(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    return _resized(_crop(rgb, rng), rgb.shape[1], rgb.shape[0], rng)


def _shift(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    padded = np.pad(rgb, ((3, 3), (3, 3), (0, 0)), mode="edge")
    down, right = (int(offset) for offset in rng.integers(0, 7, 2))
    return padded[down : down + rgb.shape[0], right : right + rgb.shape[1]].copy()


def _shift_between(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    return rounded(shift(rgb.astype(float), (*rng.uniform(-3, 3, 2), 0), order=3, mode="mirror"))


def _resize(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    by = rng.uniform(0.9, 1.1)
    return _resized(rgb, round(rgb.shape[1] * by), round(rgb.shape[0] * by), rng)


def _resize_back(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    return _resized(_resize(rgb, rng), rgb.shape[1], rgb.shape[0], rng)


def _add_object(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    """Paste an ellipse of another photograph: 1 to 8 % of the area, anywhere, edge softened over 1.5 pixels."""
    height, width = rgb.shape[:2]
    other = photograph(str(rng.choice((*TUNING, *TEST))), SIDE)
    stretch = np.sqrt(rng.uniform(0.6, 1.6))
    radius = np.sqrt(rng.uniform(0.01, 0.08) * height * width / np.pi)
    down, across = min(radius * stretch, height * 0.45), min(radius / stretch, width * 0.45)
    y, x = rng.uniform(down, height - down), rng.uniform(across, width - across)
    rows, columns = np.mgrid[:height, :width]
    inside = 1 - np.hypot((rows - y) / down, (columns - x) / across)
    mask = np.clip(inside * min(down, across) / 1.5, 0, 1)[:, :, None]
    top, left = (int(rng.integers(0, side)) for side in other.shape[:2])
    lines = np.take(other, range(top, top + height), axis=0, mode="wrap")
    texture = np.take(lines, range(left, left + width), axis=1, mode="wrap")
    return rounded(rgb * (1 - mask) + texture * mask)


CLEAN: dict[str, Edit] = {
    "crop up to 3 %": _crop,
    "crop, enlarged back": _crop_back,
    "shift up to 3 px": _shift,
    "shift between pixels": _shift_between,
    "resize x 0.9-1.1": _resize,
    "resize, and back": _resize_back,
    "JPEG q 90": lambda rgb, rng: jpeg(rgb, 90),
    "JPEG q 91-100": lambda rgb, rng: jpeg(rgb, int(rng.integers(91, 101))),
    "brightness x 0.9-1.1": lambda rgb, rng: rounded(rgb * rng.uniform(0.9, 1.1)),
    "brightness +-25.5": lambda rgb, rng: rounded(rgb + rng.uniform(-25.5, 25.5)),
    "object added": _add_object,
}
"""What an edit may do without being damage."""
MIXED: dict[str, Edit] = {
    "object, shift, brightness, q 90": lambda rgb, rng: jpeg(
        rounded(_shift(_add_object(rgb, rng), rng) * rng.uniform(0.9, 1.1)), 90
    ),
    "object, crop back, brightness, q 90": lambda rgb, rng: jpeg(
        rounded(_crop_back(_add_object(rgb, rng), rng) * rng.uniform(0.9, 1.1)), 90
    ),
}
"""Several at once: harder than what the levels were set for."""
