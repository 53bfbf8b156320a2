"""SSIM against the origin or the image that was edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from turngate.evaluators._full_reference import FullReference
from turngate.evaluators._window import gaussian, smooth, strips
from turngate.evaluators.evaluator import Facts
from turngate.evaluators.registration import Pair
from turngate.evaluators.result import Result, Score, Unscored

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Ssim"]

_SIDE = 11
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


class Ssim(FullReference):
    """Structural similarity of the luma to a reference, 0..1.

    Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 13(4), 2004, equation 13, Gaussian window 11 x 11 with sigma 1.5, whole
    windows only; luma rounded to 8 bits and the contrast-structure term not below 0, as in pyiqa's `ssim`.
    """

    facts = Facts(
        name="ssim",
        version="2",
        direction="higher",
        range=(0.0, 1.0 + 1e-9),
        needs=frozenset({"candidate", "origin"}),
        min_size=_SIDE,
        source="Wang et al. 2004, IEEE TIP 13(4), equation 13",
        size_scored="the reference's",
    )

    def _compare(self, pair: Pair) -> Result:
        if min(pair.reference.shape[:2]) < _SIDE:
            return Unscored("too_small", f"the common area is smaller than {_SIDE} pixels")
        return Score(_ssim(_luma(pair.candidate), _luma(pair.reference)), flags=pair.flags)


def _luma(rgb: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.rint((rgb / np.float32(255)) @ _LUMA * np.float32(255)).astype(np.float64)


def _ssim(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    taps = gaussian(_SIDE, 1.5)
    height, width = (size - _SIDE + 1 for size in x.shape)
    total = 0.0
    for top, bottom in strips(height, width):
        a, b = (image[top : bottom + _SIDE - 1] for image in (x, y))
        ma, mb = smooth(a, taps), smooth(b, taps)
        product, squares = ma * mb, ma * ma + mb * mb
        covariance = smooth(a * b, taps) - product
        variances = smooth(a * a + b * b, taps) - squares
        structure = np.maximum((2 * covariance + _C2) / (variances + _C2), 0)
        total += float(((2 * product + _C1) / (squares + _C1) * structure).sum())
    return float(total / (height * width))
