"""Structural similarity of two luma images: what SSIM and MS-SSIM share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from turngate.memo import Memo
from turngate.window import gaussian, smooth, strips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.evaluators.registration.register import Pair

__all__ = ["SIDE", "finest", "luma_levels", "similarity"]

SIDE = 11
"""Pixels of the Gaussian window's side; its sigma is 1.5."""
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)

_finest: Memo[tuple[float, float]] = Memo()


def finest(pair: Pair) -> tuple[float, float]:
    """`similarity` of a pair at its own size: all of SSIM, the first scale of MS-SSIM. Worked out once for both."""

    def made() -> tuple[float, float]:
        return similarity(luma_levels(pair.candidate), luma_levels(pair.reference))

    return made() if pair.key is None else _finest.get(pair.key, made)


def luma_levels(rgb: NDArray[np.float32]) -> NDArray[np.float64]:
    """H x W luma of H x W x 3 levels 0..255, rounded to whole levels as in pyiqa."""
    return np.rint((rgb / np.float32(255)) @ _LUMA * np.float32(255)).astype(np.float64)


def similarity(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Means of the SSIM map and of its contrast-structure term over whole windows, each 0..1.

    Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 13(4), 2004, equation 13; the contrast-structure term is not below 0, as
    in pyiqa. Both sides at least `SIDE` pixels.
    """
    taps = gaussian(SIDE, 1.5)
    height, width = (size - SIDE + 1 for size in x.shape)
    whole = partial = 0.0
    for top, bottom in strips(height, width):
        a, b = (image[top : bottom + SIDE - 1] for image in (x, y))
        ma, mb = smooth(a, taps), smooth(b, taps)
        product, squares = ma * mb, ma * ma + mb * mb
        covariance = smooth(a * b, taps) - product
        variances = smooth(a * a + b * b, taps) - squares
        structure = np.maximum((2 * covariance + _C2) / (variances + _C2), 0)
        whole += float(((2 * product + _C1) / (squares + _C1) * structure).sum())
        partial += float(structure.sum())
    return whole / (height * width), partial / (height * width)
