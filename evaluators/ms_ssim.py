"""MS-SSIM against the origin or the image that was edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from turngate.evaluators._structure import SIDE, finest, luma_levels, similarity
from turngate.evaluators.evaluator import Facts
from turngate.evaluators.full_reference.base import FullReference
from turngate.evaluators.registration.register import Pair
from turngate.evaluators.result import Result, Score, Unscored

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MsSsim"]

_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Exponents of the five scales, finest first (Wang et al. 2003, section 3.2)."""
_SMALLEST = (SIDE - 1) * 2 ** (len(_WEIGHTS) - 1) + 1
"""Pixels: a window must fit into the coarsest scale."""


class MsSsim(FullReference):
    """Multi-scale structural similarity of the luma to a reference, 0..1.

    Wang, Simoncelli, Bovik, Asilomar 2003, equation 7: contrast-structure at five scales, luminance at the coarsest;
    each scale halves the one before by means of 2 x 2 pixels, an odd last row or column repeated. Windows and luma as
    in `ssim`.
    """

    facts = Facts(
        name="ms_ssim",
        version="1",
        direction="higher",
        range=(0.0, 1.0 + 1e-9),
        needs=frozenset({"candidate", "origin"}),
        min_size=_SMALLEST,
        source="Wang, Simoncelli, Bovik 2003, Asilomar, equation 7",
    )

    def _compare(self, pair: Pair) -> Result:
        if min(pair.reference.shape[:2]) < _SMALLEST:
            return Unscored("too_small", f"the common area is smaller than {_SMALLEST} pixels")
        first, *middle, last = _WEIGHTS
        value = finest(pair)[1] ** first
        x, y = (_halved(luma_levels(image)) for image in (pair.candidate, pair.reference))
        for weight in middle:
            value *= similarity(x, y)[1] ** weight
            x, y = _halved(x), _halved(y)
        return Score(value * similarity(x, y)[0] ** last)


def _halved(image: NDArray[np.float64]) -> NDArray[np.float64]:
    height, width = image.shape
    even = np.pad(image, ((0, height % 2), (0, width % 2)), mode="edge")
    return (even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2]) / 4
