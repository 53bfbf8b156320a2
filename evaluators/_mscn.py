"""Local mean and contrast taken out of a luma image: the field that BRISQUE, NIQE and PIQE look at."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from turngate.window import gaussian, strips

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RADIUS", "mscn", "mscn_single"]

RADIUS = 3
"""Pixels on each side that a coefficient depends on."""


def mscn(luma: NDArray[np.float64], border: Literal["zero", "edge"]) -> NDArray[np.float64]:
    """Mean-subtracted contrast-normalised coefficients (I - mu) / (sigma + 1) of an H x W luma image, 0..255.

    mu and sigma come from a 7 x 7 Gaussian window with standard deviation 7/6; outside the image there are zeros or
    copies of the `edge`. Source: Mittal, Moorthy, Bovik 2012, equations 1 to 3.
    """
    import cv2

    taps, _ = _windows()
    outside = cv2.BORDER_CONSTANT if border == "zero" else cv2.BORDER_REPLICATE
    means = np.asarray(cv2.sepFilter2D(luma, cv2.CV_64F, taps, taps, borderType=outside), np.float64)
    powers = np.asarray(cv2.sepFilter2D(luma * luma, cv2.CV_64F, taps, taps, borderType=outside), np.float64)
    for top, bottom in strips(*luma.shape):
        mean, spread = means[top:bottom], powers[top:bottom]
        spread -= mean * mean
        np.maximum(spread, 0.0, out=spread)
        np.sqrt(spread, out=spread)
        spread += 1.0
        np.subtract(luma[top:bottom], mean, out=mean)
        mean /= spread
    return means


def mscn_single(patches: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for N x (h + 6) x (w + 6) patches with their surroundings, in single precision: N x h x w.

    Window sums are rounded after each of the 49 taps, row by row, as single-precision convolutions do. The rounding
    of sigma reaches 1 % in dark, smooth areas, enough to move a block over one of PIQE's thresholds.
    """
    pixels = patches.astype(np.float32)
    mean, power = _sum_single(pixels), _sum_single(pixels * pixels)
    spread = np.sqrt(np.abs(power - mean * mean) + np.finfo(np.float32).eps)
    centre = pixels[:, RADIUS:-RADIUS, RADIUS:-RADIUS]
    return ((centre - mean) / (spread + np.float32(1))).astype(np.float64)


def _sum_single(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    _, window = _windows()
    height, width = (size - 2 * RADIUS for size in pixels.shape[1:])
    total = np.zeros((len(pixels), height, width), np.float32)
    for (row, column), weight in np.ndenumerate(window):
        # A product of two float32 is exact in float64: this is a fused multiply-add on any processor.
        term = np.float64(weight) * pixels[:, row : row + height, column : column + width]
        total = (term + total).astype(np.float32)
    return total


@cache
def _windows() -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Taps along one axis, and the 7 x 7 window in single precision.

    The taps are scaled to the sum of the single-precision window, which is 1 + 1.1e-8. That matters in flat areas:
    the residue I - mu is then a tiny value of one sign, so that a flat area counts on one side of the fits, as it
    does in the published implementations, instead of on none or on both by chance.
    """
    taps = gaussian(2 * RADIUS + 1, 7 / 6)
    window = np.outer(taps, taps).astype(np.float32)
    return taps * np.sqrt(window.sum(dtype=np.float64)), window
