"""Exact BT.601 luma of a picture, and Gaussian windows over it, shared by everything that looks at it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from turngate.picture import LUMA_WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from turngate.picture import Picture

__all__ = ["gaussian", "luma", "luma_of", "rounded_luma", "smooth", "strips"]


_WEIGHTS = np.rint(1000 * np.array([LUMA_WEIGHTS])).astype(np.float32)
_KNOWN: WeakKeyDictionary[Picture, NDArray[np.float32]] = WeakKeyDictionary()


def luma(picture: Picture) -> NDArray[np.float32]:
    """H x W BT.601 luma in thousandths of a grey level, 0..255,000: see `luma_of`."""
    known = _KNOWN.get(picture)
    if known is None:
        known = luma_of(picture.rgb)
        known.setflags(write=False)
        _KNOWN[picture] = known
    return known


def luma_of(rgb: NDArray[np.uint8] | NDArray[np.float32]) -> NDArray[np.float32]:
    """299 R + 587 G + 114 B of H x W x 3 pixels, 0..255: H x W, 0..255,000, whole numbers for whole levels.

    The weights of BT.601 have three decimals, so this is its luma without any rounding. Every product and sum of
    levels in multiples of 1/64 is one of 1/64 too and below 2^18: 24 bits, exact in single precision. So any processor
    gives the same, in any order.
    """
    import cv2

    return np.asarray(cv2.transform(rgb.astype(np.float32, copy=False), _WEIGHTS), dtype=np.float32)


def rounded_luma(thousandths: NDArray[np.float32]) -> NDArray[np.float64]:
    """Luma as whole 8-bit levels, 0..255; one that lies exactly between two goes to the even one.

    One pixel in a thousand does. In single precision, as in pyiqa, the processor decides those: that moves NIQE by up
    to 0.005. The quotient of a tie is exact, and no other is rounded onto one.
    """
    levels: NDArray[np.float64] = np.rint(thousandths / np.float32(1000)).astype(np.float64)
    return levels


# Separable windows: correlation of an image with a short row of taps along both axes.

_CACHED = 32_768
"""Pixels worked on at a time, so that the temporaries of a strip stay in the processor's second-level cache."""


@cache
def gaussian(size: int, sigma: float) -> NDArray[np.float64]:
    """`size` samples of a Gaussian of standard deviation `sigma` pixels, with sum 1."""
    steps = np.arange(size) - (size - 1) / 2
    taps: NDArray[np.float64] = np.exp(-(steps**2) / (2 * sigma**2))
    taps /= taps.sum()
    taps.setflags(write=False)
    return taps


def strips(height: int, width: int) -> Iterator[tuple[int, int]]:
    """First row and row after the last of strips that cover an image and fit the processor's cache."""
    rows = max(8, _CACHED // width)
    return ((top, min(top + rows, height)) for top in range(0, height, rows))


def smooth(image: NDArray[np.float64], taps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlate H x W with taps of odd number along both axes; only whole windows are kept."""
    import cv2

    edge = len(taps) // 2
    height, width = image.shape
    whole = np.asarray(cv2.sepFilter2D(image, cv2.CV_64F, taps, taps, borderType=cv2.BORDER_CONSTANT), np.float64)
    return whole[edge : height - edge, edge : width - edge]
