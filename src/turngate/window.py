"""Separable windows: correlation of an image with a short row of taps along both axes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["gaussian", "smooth", "strips"]

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
