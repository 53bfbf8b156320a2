"""One turn of decay: what lies between two amounts of damage, its random fields and its shapes, added to the image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from turngate.picture import LUMA_WEIGHTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.agent.editors.simulated.signatures import Signature

__all__ = ["age", "correlated", "decay", "duplicate", "increment", "pattern", "resample", "simplify", "softened"]


# Random fields: new noise with a given grain, and smooth patterns that are the same at every turn.


def correlated(rng: np.random.Generator, shape: tuple[int, int, int], size: float) -> NDArray[np.float32]:
    """Gaussian noise of unit variance, correlated along height and width by a Gaussian of `size` pixels."""
    from scipy.ndimage import correlate1d

    weights = np.exp(-(np.arange(-2, 3) ** 2) / (2 * size**2))
    weights /= np.sqrt(np.square(weights).sum())
    field = rng.standard_normal(shape, dtype=np.float32)
    for axis in (0, 1):
        field = correlate1d(field, weights, axis=axis, mode="wrap")
    return field


@lru_cache(maxsize=10)  # five of a signature, in landscape and in portrait
def pattern(height: int, width: int, size: float, number: int) -> NDArray[np.float32]:
    """Smooth noise with structures of `size` pixels, mean 0 and standard deviation 1; `number` chooses which."""
    from scipy.ndimage import gaussian_filter

    field = np.random.default_rng(number).standard_normal((height, width), dtype=np.float32)
    field = gaussian_filter(field, size, mode="wrap")
    field -= field.mean()
    field /= max(float(field.std()), 1e-6)
    field.setflags(write=False)
    return np.asarray(field, dtype=np.float32)


# Damage that follows what is in the image: resampling, blur, lost texture, wrinkles, repeated pieces.

_LUMA = np.array(LUMA_WEIGHTS, dtype=np.float32)


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


_SOFTENING = 2.5
"""Damage after which 63 % of `Signature.soften` is reached."""

_DITHER = 0.5
"""Standard deviation of the noise of a turn at least: it keeps changes of less than a level from being rounded away."""

_PATCH = 28.0
"""Size of the patches of stronger noise: standard deviation of a Gaussian, pixels."""


@dataclass(frozen=True)
class Decayed:
    """An image after one turn of decay, and what happened to its geometry."""

    rgb: NDArray[np.uint8]
    """H x W x 3."""
    crop: tuple[float, float]
    """Share of width and height that was cut off before the rest was enlarged."""
    repeated: tuple[float, float, float, float] | None
    """Left, top, right, bottom of the piece that was repeated at the left edge, as shares; None for most turns."""


def increment(before: float, severity: float, recursion: float, luck: float) -> float:
    """Damage that one turn adds, never negative.

    R_n = I + a R_(n-1) makes the residual grow by I - (1 - a) R_(n-1): by I at first, then ever less, towards the
    fixed point I / (1 - a). `luck` is how much stronger than that this attempt is (mean 1).
    """
    return max(0.0, luck * (severity - (1 - recursion) * before))


def age(damage: float, recursion: float) -> float:
    """Turns at severity 1 and mean strength that give `damage`; infinite from the fixed point on."""
    if recursion == 1:
        return damage
    left = 1 - (1 - recursion) * damage
    return float(np.log(left) / np.log(recursion)) if left > 0 else float("inf")


def decay(
    rgb: NDArray[np.uint8], signature: Signature, before: float, after: float, rng: np.random.Generator
) -> Decayed:
    """The image with the residual of damage `after` instead of `before`, whatever drew that residual.

    Fixed patterns grow by their amplitude's difference. Noise and blur add up in their variance: the noise of a turn is
    such that the standard deviation of all of it is proportional to the damage.
    """
    height, width = rgb.shape[:2]
    step = after - before
    crop = (min(signature.crop[0] * step, 0.2), min(signature.crop[1] * step, 0.2))
    image = resample(rgb, crop)
    repeated = None
    if signature.duplicates and rng.random() < 1 - (1 - signature.duplicates) ** step:
        repeated = duplicate(image, rng)
    image = softened(image, _variance(signature, after) - _variance(signature, before))
    if signature.simplify:
        image = simplify(image, 1 - (1 - signature.simplify) ** step)
    if signature.wrinkles:
        wrinkle(image, signature.wrinkles * step)
    if signature.lattice:
        late = [max(0.0, damage - signature.lattice_from) for damage in (before, after)]
        image += signature.lattice * (late[1] - late[0]) * _lattice(height, width, signature.period)[:, :, None]
    image += step * np.array(signature.tint, dtype=np.float32)
    noise = max(signature.noise * np.sqrt(after**2 - before**2), _DITHER)
    image += np.float32(noise) * _static(signature, height, width, rng)
    if signature.dots:
        _add_dots(image, rng.poisson(signature.dots * step * height * width / 1e6), signature.dot_level, rng)
    return Decayed(np.clip(np.rint(image), 0, 255).astype(np.uint8), crop, repeated)


def _variance(signature: Signature, damage: float) -> float:
    """Of all the blur up to `damage`, square pixels."""
    return float(signature.soften * (1 - np.exp(-damage / _SOFTENING)) + signature.blur * damage)


def _static(signature: Signature, height: int, width: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Correlated noise of unit variance in what the channels share, with patches of more and less."""
    noise = correlated(rng, (height, width, 1), signature.grain_size)
    noise = noise + np.float32(signature.chroma) * correlated(rng, (height, width, 3), signature.grain_size)
    if signature.patches:
        noise *= np.exp(np.float32(signature.patches) * pattern(height, width, _PATCH, 5))[:, :, None]
    return noise


@lru_cache(maxsize=2)
def _lattice(height: int, width: int, period: tuple[int, int]) -> NDArray[np.float32]:
    x, y = np.arange(width), np.arange(height)[:, None]
    phase = (x / period[0] if period[0] else 0 * x) + (y / period[1] if period[1] else 0 * y)
    return np.sin(2 * np.pi * phase).astype(np.float32)


def _add_dots(image: NDArray[np.float32], number: int, level: float, rng: np.random.Generator) -> None:
    """Soft dots, bright or dark, some coloured, cut off at the border of the image."""
    height, width = image.shape[:2]
    offsets = np.arange(-3, 4)
    distance = offsets[:, None] ** 2 + offsets**2
    rows, columns = rng.integers(0, height, number), rng.integers(0, width, number)
    sizes, signs = rng.uniform(0.6, 1.4, number), rng.choice([-1.0, 1.0], number)
    colours = rng.uniform(0.5, 1.0, (number, 3))
    for row, column, size, sign, colour in zip(rows, columns, sizes, signs, colours, strict=True):
        top, left = max(row - 3, 0), max(column - 3, 0)
        bottom, right = min(row + 4, height), min(column + 4, width)
        dot = np.exp(-distance / (2 * size**2))[
            top - row + 3 : bottom - row + 3, left - column + 3 : right - column + 3
        ]
        image[top:bottom, left:right] += (sign * level * dot[:, :, None] * colour).astype(np.float32)
