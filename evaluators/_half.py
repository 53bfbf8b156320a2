"""Shrinking an image to half its size: the second scale of BRISQUE and NIQE."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["half"]


def half(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shrink H x W to ceil(H/2) x ceil(W/2) by an antialiased bicubic kernel (a = -0.5), edges mirrored.

    This is what MATLAB's `imresize(image, 0.5)` and pyiqa do; other kernels move BRISQUE by several points.
    Source of the kernel: Keys 1981, equation 15, stretched by 2. Both sides must be at least 4 pixels.
    """
    return _halve(_halve(image, 0), 1)


def _halve(image: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    size = image.shape[axis]
    count = (size + 1) // 2
    frame = [(0, 0), (0, 0)]
    frame[axis] = (3, 2 * count - size + 3)
    padded = np.pad(image, frame, mode="symmetric")
    phases = (padded[::2], padded[1::2]) if axis == 0 else [np.ascontiguousarray(padded[:, at::2]) for at in (0, 1)]

    def tapped(step: int) -> NDArray[np.float64]:
        phase, first = phases[step % 2], step // 2
        return phase[first : first + count] if axis == 0 else phase[:, first : first + count]

    out = np.zeros((count, image.shape[1]) if axis == 0 else (image.shape[0], count))
    pair = np.empty_like(out)
    for step, tap in enumerate(_taps()):
        np.add(tapped(step), tapped(7 - step), out=pair)
        pair *= tap
        out += pair
    return out


@cache
def _taps() -> tuple[float, ...]:
    """Outer four of the eight symmetric weights; the source pixels lie 3.5, 2.5, 1.5 and 0.5 from the target."""
    far, near = np.array([1.75, 1.25]), np.array([0.75, 0.25])
    weights = np.concatenate([-0.5 * far**3 + 2.5 * far**2 - 4 * far + 2, 1.5 * near**3 - 2.5 * near**2 + 1])
    return tuple(float(weight) for weight in weights / (2 * weights.sum()))
