"""SSIM against the origin or the image that was edited."""

from __future__ import annotations

from turngate.evaluators._structure import SIDE, finest
from turngate.evaluators.evaluator import Facts
from turngate.evaluators.full_reference.base import FullReference
from turngate.evaluators.registration.register import Pair
from turngate.evaluators.result import Result, Score, Unscored

__all__ = ["Ssim"]


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
        min_size=SIDE,
        source="Wang et al. 2004, IEEE TIP 13(4), equation 13",
    )

    def _compare(self, pair: Pair) -> Result:
        if min(pair.reference.shape[:2]) < SIDE:
            return Unscored("too_small", f"the common area is smaller than {SIDE} pixels")
        return Score(finest(pair)[0])
