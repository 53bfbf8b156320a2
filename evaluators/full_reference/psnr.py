"""PSNR against the origin or the image that was edited."""

from __future__ import annotations

from math import log10

import numpy as np

from turngate.evaluators.evaluator import Facts
from turngate.evaluators.full_reference.base import FullReference
from turngate.evaluators.registration import AlignedImages
from turngate.evaluators.result import Result, Score

__all__ = ["Psnr"]

_EPSILON = 1e-8
"""pyiqa's: identical images give 80 dB instead of infinity."""


class Psnr(FullReference):
    """Peak signal-to-noise ratio to a reference, in dB over all three channels; 80 dB when identical.

    10 log10(1 / (mse + 1e-8)) with the mean squared error of pixels in 0..1: pyiqa's `psnr`, with its epsilon.
    """

    facts = Facts(
        name="psnr",
        version="3",
        direction="higher",
        range=(0.0, 80.0),
        range_is_approximate=True,
        inputs=frozenset({"candidate", "origin"}),
        source="10 log10(1 / (mse + 1e-8)), as pyiqa's psnr",
    )

    def _compare(self, pair: AlignedImages) -> Result:
        # Squares of whole levels are whole: their sum is exact in any order.
        mse = float(np.square(pair.candidate - pair.reference).mean(dtype=np.float64)) / 255**2
        return Score(10 * log10(1 / (mse + _EPSILON)))
