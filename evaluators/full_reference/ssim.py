"""SSIM and MS-SSIM against the origin or the image that was edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from turngate.evaluators.evaluator import Facts
from turngate.evaluators.full_reference.base import FullReference
from turngate.evaluators.registration import AlignedImages
from turngate.evaluators.result import Result, Score, Unscored
from turngate.luma import gaussian, luma_of, rounded_luma, smooth, strips
from turngate.memo import Memo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.evaluators.registration import AlignedImages

__all__ = ["SIDE", "MsSsim", "Ssim"]


# Structural similarity of two luma images: what SSIM and MS-SSIM share.

SIDE = 11
"""Pixels of the Gaussian window's side; its sigma is 1.5."""
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2

_finest: Memo[tuple[float, float]] = Memo()


def finest(pair: AlignedImages) -> tuple[float, float]:
    """`similarity` of a pair at its own size: all of SSIM, the first scale of MS-SSIM. Worked out once for both."""

    def made() -> tuple[float, float]:
        return similarity(luma_levels(pair.candidate), luma_levels(pair.reference))

    return made() if pair.key is None else _finest.get(pair.key, made)


def luma_levels(rgb: NDArray[np.float32]) -> NDArray[np.float64]:
    """H x W luma of H x W x 3 levels 0..255, rounded to whole levels as in pyiqa."""
    return rounded_luma(luma_of(rgb))


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


class Ssim(FullReference):
    """Structural similarity of the luma to a reference, 0..1.

    Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 13(4), 2004, equation 13, Gaussian window 11 x 11 with sigma 1.5, whole
    windows only; luma rounded to 8 bits and the contrast-structure term not below 0, as in pyiqa's `ssim`.
    """

    facts = Facts(
        name="ssim",
        version="3",
        direction="higher",
        range=(0.0, 1.0 + 1e-9),
        inputs=frozenset({"candidate", "origin"}),
        min_size=SIDE,
        source="Wang et al. 2004, IEEE TIP 13(4), equation 13",
    )

    def _compare(self, pair: AlignedImages) -> Result:
        if min(pair.reference.shape[:2]) < SIDE:
            return Unscored("too_small", f"the common area is smaller than {SIDE} pixels")
        return Score(finest(pair)[0])


# MS-SSIM against the origin or the image that was edited.

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
        version="2",
        direction="higher",
        range=(0.0, 1.0 + 1e-9),
        inputs=frozenset({"candidate", "origin"}),
        min_size=_SMALLEST,
        source="Wang, Simoncelli, Bovik 2003, Asilomar, equation 7",
    )

    def _compare(self, pair: AlignedImages) -> Result:
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
