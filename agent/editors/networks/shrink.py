"""Shrinking by a whole factor with a named low-pass kernel."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import correlate1d

__all__ = ["GAUSSIAN_SD", "Kernel", "shrink"]

Kernel = Literal["gaussian", "lanczos", "bicubic"]
"""Low-pass kernel that is applied before every `factor`-th sample is taken."""

GAUSSIAN_SD = 0.225
"""Standard deviation of the `gaussian` kernel in units of the factor (0.9 pixels for a factor of 4)."""

_PILLOW = {"lanczos": Image.Resampling.LANCZOS, "bicubic": Image.Resampling.BICUBIC}


def shrink(pixels: NDArray[np.float32], factor: int, kernel: Kernel) -> NDArray[np.float32]:
    """Shrink H x W x C pixels by an even `factor` that divides H and W; samples lie at the centres of the blocks.

    `lanczos` (3 lobes) and `bicubic` (a = -0.5) are Pillow's, widened by the factor. `gaussian` is sampled at the same
    places, cut at 3 standard deviations; of the three it filters high frequencies least, some aliasing stays.
    """
    if kernel == "gaussian":
        weights = _gaussian(factor)
        for axis in (0, 1):
            pixels = correlate1d(pixels, weights, axis=axis, mode="nearest")
            # An even kernel is centred half a pixel before the sample it is stored at: that is the block's centre.
            pixels = np.take(pixels, range(factor // 2, pixels.shape[axis], factor), axis=axis)
        return pixels
    size = (pixels.shape[1] // factor, pixels.shape[0] // factor)
    channels = (Image.fromarray(pixels[:, :, channel]) for channel in range(pixels.shape[2]))
    return np.dstack([np.asarray(channel.resize(size, _PILLOW[kernel])) for channel in channels])


def _gaussian(factor: int) -> NDArray[np.float64]:
    deviation = GAUSSIAN_SD * factor
    reach = int(np.ceil(3 * deviation))
    taps = np.arange(-reach, reach) + 0.5
    weights: NDArray[np.float64] = np.exp(-(taps**2) / (2 * deviation**2))
    weights /= weights.sum()
    return weights
