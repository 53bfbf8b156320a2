"""Differences pixel by pixel: PSNR, and the colour difference CIEDE2000."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

import numpy as np

from turngate.evaluators.evaluator import Facts
from turngate.evaluators.full_reference.base import FullReference
from turngate.evaluators.registration import AlignedImages
from turngate.evaluators.result import Result, Score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Ciede2000", "Psnr"]


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


# Colour shift against the origin or the image that was edited.

_CELLS = 32
"""Cells along the shorter side: what is finer is texture or noise, not a shift of colour."""


class Ciede2000(FullReference):
    """Colour shift since a reference: mean CIEDE2000 difference of area means, 0 when there is none.

    Both images are shrunk by area means to 32 cells along the shorter side, so that zero-mean noise and a small
    misalignment do not count, and compared cell by cell: Sharma, Wu, Dalal 2005 (Color Research and Application 30(1))
    as scikit-image has it, sRGB, D65. The component `mean_colour` is the difference of the two mean colours: a cast of
    the whole image moves both numbers alike, colours that change in different ways in different places only the value.
    """

    facts = Facts(
        name="ciede2000",
        version="2",
        direction="lower",
        range=(0.0, 120.0),
        range_is_approximate=True,
        inputs=frozenset({"candidate", "origin"}),
        source="CIEDE2000, Sharma, Wu, Dalal 2005, on 32 area means along the shorter side",
    )

    def _compare(self, pair: AlignedImages) -> Result:
        import cv2

        candidate, reference = _cells(pair.candidate), _cells(pair.reference)
        value = _difference(candidate, reference)
        means = (np.array(cv2.mean(image)[:3]).reshape(1, 1, 3) for image in (pair.candidate, pair.reference))
        return Score(value, components={"mean_colour": _difference(*means)})


def _cells(rgb: NDArray[np.float32]) -> NDArray[np.float64]:
    import cv2

    height, width = rgb.shape[:2]
    scale = min(1.0, _CELLS / min(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(rgb.astype(np.float64), size, interpolation=cv2.INTER_AREA))


def _difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    from skimage.color import deltaE_ciede2000, rgb2lab

    compare: Callable[..., NDArray[np.float64]] = deltaE_ciede2000  # scikit-image ships no types
    first, second = (rgb2lab(np.clip(image / 255, 0, 1)) for image in (one, other))
    return float(compare(first, second).mean())
