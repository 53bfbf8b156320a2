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
    import cv2

    taps = _taps()
    # OpenCV centres eight taps on the fourth: the target's middle lies half a pixel to the right, as it should.
    full = cv2.sepFilter2D(image, cv2.CV_64F, taps, taps, anchor=(3, 3), borderType=cv2.BORDER_REFLECT)
    return np.asarray(full, np.float64)[::2, ::2].copy()


@cache
def _taps() -> NDArray[np.float64]:
    """Eight symmetric weights; the source pixels lie 3.5, 2.5, 1.5 and 0.5 from the target on both sides."""
    far, near = np.array([1.75, 1.25]), np.array([0.75, 0.25])
    weights = np.concatenate([-0.5 * far**3 + 2.5 * far**2 - 4 * far + 2, 1.5 * near**3 - 2.5 * near**2 + 1])
    both: NDArray[np.float64] = np.concatenate([weights, weights[::-1]]) / (2 * weights.sum())
    both.setflags(write=False)
    return both
