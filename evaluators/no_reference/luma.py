"""Luma of a picture and its half-size version, computed once and shared by all metrics that look at it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.picture import Picture

__all__ = ["half", "is_flat", "luma", "rounded_luma"]


_KNOWN: WeakKeyDictionary[Picture, NDArray[np.float32]] = WeakKeyDictionary()


def luma(picture: Picture) -> NDArray[np.float32]:
    """H x W BT.601 luma, 0..1, in single precision.

    One pixel in a thousand lies exactly between two 8-bit levels, and how it is rounded moves NIQE by up to 0.005.
    Single precision rounds it as pyiqa does; `Picture.gray` (double precision) does not.
    """
    known = _KNOWN.get(picture)
    if known is None:
        known = luma_of(picture.rgb)
        known.setflags(write=False)
        _KNOWN[picture] = known
    return known


def luma_of(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The same for H x W x 3 8-bit pixels that are not a `Picture`."""
    weighted: NDArray[np.float32] = (rgb.astype(np.float32) / np.float32(255)) @ np.array(
        [0.299, 0.587, 0.114], np.float32
    )
    return weighted


def rounded_luma(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Luma 0..1 as whole 8-bit levels, 0..255."""
    levels: NDArray[np.float64] = np.rint(values * np.float32(255)).astype(np.float64)
    return levels


def is_flat(levels: NDArray[np.float64]) -> bool:
    """True when all pixels have one level: there is no structure to judge."""
    return bool(levels.min() == levels.max())


# Shrinking an image to half its size: the second scale of BRISQUE and NIQE.


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
