"""One turn of decay: what lies between two amounts of damage, added to the image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from turngate.agent.editors._sim_fields import correlated, pattern
from turngate.agent.editors._sim_shapes import duplicate, resample, simplify, softened, wrinkle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.agent.editors.simulated.signatures import Signature

__all__ = ["Decayed", "age", "decay", "increment"]

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
