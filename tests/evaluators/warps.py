"""Known warps of the shipped photographs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter
from skimage import data

from turngate.evaluators.registration import Geometry
from turngate.picture import Picture

__all__ = ["WEAR", "Box", "Rgb", "cropped", "error", "photograph", "rounded", "worse_and_worse"]

Rgb = NDArray[np.uint8]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


def photograph(name: str, side: int | None = None) -> Rgb:
    pixels: Rgb = np.ascontiguousarray(getattr(data, name)()[:, :, :3])
    if side is None:
        return pixels
    image = Image.fromarray(pixels)
    scale = side / max(image.size)
    size = (round(image.width * scale), round(image.height * scale))
    return np.asarray(image.resize(size, Image.Resampling.LANCZOS))


def rounded(values: NDArray[np.floating[Any]]) -> Rgb:
    eight_bit: Rgb = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return eight_bit


def cropped(rgb: Rgb, box: Box, size: tuple[int, int] | None = None) -> Rgb:
    """What is inside the box, enlarged back to the image's size (or to `size`, width and height)."""
    return np.asarray(
        Image.fromarray(rgb).resize(size or (rgb.shape[1], rgb.shape[0]), Image.Resampling.LANCZOS, box=box)
    )


def error(geometry: Geometry, box: Box) -> float:
    """Largest distance of an edge of the reference from where it should be, in pixels of the candidate."""
    view, (width, height), (there_x, there_y) = geometry.view, geometry.reference, geometry.candidate
    left, top, right, bottom = box
    found = [view.offset_x, view.scale_x + view.offset_x, view.offset_y, view.scale_y + view.offset_y]
    true = [
        -left / (right - left),
        (width - left) / (right - left),
        -top / (bottom - top),
        (height - top) / (bottom - top),
    ]
    return float(max(abs(np.subtract(found, true)) * [there_x, there_x, there_y, there_y]))


def _noise(rgb: Rgb, deviation: float) -> NDArray[np.float64]:
    return rgb + np.random.default_rng(1).normal(0, deviation, rgb.shape)


WEAR: dict[str, Callable[[Rgb], Rgb]] = {
    "none": lambda rgb: rgb,
    "noise of 40 levels": lambda rgb: rounded(_noise(rgb, 40)),
    "blur of 3 pixels": lambda rgb: rounded(gaussian_filter(rgb.astype(float), (3, 3, 0))),
    "colour cast": lambda rgb: rounded(rgb * np.array([0.6, 1.2, 0.7]) + 25),
    "all three": lambda rgb: rounded(_noise(rounded(gaussian_filter(rgb * np.array([1.2, 0.8, 0.7]), (2, 2, 0))), 20)),
}


def worse_and_worse() -> list[Picture]:
    """A photograph, and the same more and more blurred, tinted and noisy: worse by any measure of fidelity."""
    rgb = np.ascontiguousarray(photograph("coffee")[:256, 150:406])
    worse = []
    for amount in (1, 2, 4):
        soft = gaussian_filter(rgb.astype(float), (amount, amount, 0)) + amount * np.array([6, -4, 5])
        noise = np.random.default_rng(amount).normal(0, 6 * amount, rgb.shape)
        worse.append(rounded(soft + noise))
    return [Picture.from_rgb(each) for each in (rgb, *worse)]
