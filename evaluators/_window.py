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
    """Correlate H x W with symmetric taps of odd number along both axes; only whole windows are kept."""
    return _along(_along(image, taps, 0), taps, 1)


def _along(image: NDArray[np.float64], taps: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Correlate with symmetric taps of odd number along one axis; only whole windows are kept."""
    count = image.shape[axis] - len(taps) + 1
    last = len(taps) - 1

    def moved(step: int) -> NDArray[np.float64]:
        return image[step : step + count] if axis == 0 else image[:, step : step + count]

    out: NDArray[np.float64] = moved(last // 2) * taps[last // 2]
    pair = np.empty_like(out)
    for step in range(last // 2):
        np.add(moved(step), moved(last - step), out=pair)
        pair *= taps[step]
        out += pair
    return out
