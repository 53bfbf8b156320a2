"""Damage that follows what is in the image: resampling, blur, lost texture, wrinkles, repeated pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from turngate.agent.editors._sim_fields import pattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["duplicate", "resample", "simplify", "softened", "wrinkle"]

_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def resample(rgb: NDArray[np.uint8], crop: tuple[float, float]) -> NDArray[np.float32]:
    """Cut off a share of width and height, half on each side, and enlarge the rest to the old size."""
    height, width = rgb.shape[:2]
    if not any(crop):
        return rgb.astype(np.float32)
    x, y = width * crop[0] / 2, height * crop[1] / 2
    planes = [Image.fromarray(rgb[:, :, channel].astype(np.float32)) for channel in range(3)]
    box = (x, y, width - x, height - y)
    return np.dstack([np.asarray(plane.resize((width, height), Image.Resampling.LANCZOS, box=box)) for plane in planes])


def softened(image: NDArray[np.float32], variance: float) -> NDArray[np.float32]:
    """Blurred by a kernel of that variance in square pixels along each axis: variances of successive blurs add up."""
    from scipy.ndimage import correlate1d

    passes = int(np.ceil(variance / 0.5))  # three taps can hold half a square pixel
    for _ in range(passes):
        side = variance / passes / 2
        for axis in (0, 1):
            image = correlate1d(image, [side, 1 - 2 * side, side], axis=axis, mode="nearest")
    return image


def simplify(image: NDArray[np.float32], share: float) -> NDArray[np.float32]:
    """A share of the bilateral filter (Tomasi and Manduchi, ICCV 1998): texture is flattened, edges stay."""
    import cv2

    flat = cv2.bilateralFilter(image, 7, 26, 2.5)
    return np.asarray(image + np.float32(share) * (flat - image), dtype=np.float32)


def wrinkle(image: NDArray[np.float32], amount: float) -> None:
    """Crease the image along the contours of objects, in place: dark ridges beside them, and contours that waver.

    Contours are taken from a coarse copy, in which the wrinkles of earlier turns hardly show, so that new ones fall on
    old ones. Nothing happens more than some 25 pixels from a contour.
    """
    import cv2

    height, width = image.shape[:2]
    luma = image @ _LUMA
    coarse = cv2.GaussianBlur(luma, (0, 0), 3)
    slope = np.hypot(cv2.Sobel(coarse, -1, 1, 0), cv2.Sobel(coarse, -1, 0, 1))
    contour = slope > max(float(np.quantile(slope, 0.9)), 8.0)
    if min(height, width) < 2 or not contour.any():
        return
    distance = cv2.distanceTransform((~contour).astype(np.uint8), cv2.DIST_L2, 5)
    ridge = np.cos(2 * np.pi * distance / 6.5 + 1.5 * pattern(height, width, 7, 7))
    crease = 0.3 - np.maximum(ridge, 0) ** 3
    uneven = np.clip(0.5 + 0.8 * pattern(height, width, 9, 8), 0, 1.6)
    near = np.exp(-distance / 7)
    image += (np.float32(amount) * crease * uneven * near)[:, :, None]
    moved = np.float32(min(0.006 * amount, 0.5)) * near
    for axis in (0, 1):
        image += (moved * pattern(height, width, 2.5, 10 + axis))[:, :, None] * np.gradient(image, axis=axis)


def duplicate(image: NDArray[np.float32], rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Repeat a piece of the right side at the left, in place; returns the piece as shares of width and height."""
    height, width = image.shape[:2]
    piece_width, piece_height = rng.uniform(0.15, 0.28), rng.uniform(0.3, 0.6)
    left, top = 1 - piece_width, rng.uniform(0, 1 - piece_height)
    x, wide = int(left * width), width - int(left * width)
    y, tall = int(top * height), max(1, int(piece_height * height))
    source = image[y : y + tall, x:].copy()
    fade_x = np.clip((wide - np.arange(wide)) / max(wide * 0.2, 1), 0, 1)
    rows = np.arange(tall) + 1
    fade_y = np.clip(np.minimum(rows, tall + 1 - rows) / max(tall * 0.12, 1), 0, 1)
    mask = (fade_y[:, None] * fade_x).astype(np.float32)[:, :, None]
    target = image[y : y + tall, :wide]
    target += mask * (source - target)
    return x / width, y / height, 1.0, (y + tall) / height
