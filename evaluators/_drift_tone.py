"""The change of brightness between two images that an edit may make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OFFSET", "brightness"]

OFFSET = 25.5
_GAIN = (0.9, 1.1)
"""Brightness changes within these are an edit, not drift: 10 % of the luma, or of the range."""
_APART = 4.0
"""Tiles nearer than this in mean luma, in grey levels, say nothing about gain."""
_FEWEST_PAIRS = 6


def brightness(reference: NDArray[np.float64], candidate: NDArray[np.float64], contrast: float) -> tuple[float, float]:
    """Gain and offset in grey levels (0.9 to 1.1 and -25.5 to 25.5) that best explain the tile means.

    The gain is the value nearest to 1 between the Theil-Sen slopes of candidate on reference and of reference on
    candidate (inverted): where tiles no longer match, either slope alone shrinks to 0 and would feign a darkening.
    Where all tiles are equally bright, a gain and an offset look alike: then it is the `contrast` that was kept (ratio
    of standard deviations), as far as a gain of that size explains the change of the mean.
    """
    forward, backward = _slope(reference, candidate), _slope(candidate, reference)
    gain = 1.0
    if forward is None or backward is None:
        low, high = sorted((1.0, float((np.median(candidate) + 1) / (np.median(reference) + 1))))
        gain = float(np.clip(np.clip(contrast, low, high), *_GAIN))
    elif min(forward, backward) > 0:
        low, high = sorted((forward, 1 / backward))
        gain = float(np.clip(np.clip(1.0, low, high), *_GAIN))
    return gain, float(np.clip(np.median(candidate - gain * reference), -OFFSET, OFFSET))


def _slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    first, second = np.triu_indices(len(x), 1)
    run = x[second] - x[first]
    apart = np.abs(run) > _APART
    if apart.sum() < _FEWEST_PAIRS:
        return None
    return float(np.median((y[second] - y[first])[apart] / run[apart]))
