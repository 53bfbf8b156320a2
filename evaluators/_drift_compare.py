"""Components of drift: what has grown or gone between the tiles of a reference and those of a candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import median_filter, uniform_filter

from turngate.evaluators._drift_features import Features

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["brightness", "components"]

_GAIN = (0.9, 1.1)
_OFFSET = 25.5
"""Brightness changes within these are an edit, not drift: 10 % of the luma, or of the range."""
_APART = 8.0
"""Tiles nearer than this in mean luma, in grey levels, say nothing about gain."""
_FEWEST_PAIRS = 6
_NOISE_SLACK = 1.5
"""Growth of a noise floor's variance that is no damage: 1.21 from a gain of 1.1, the rest from codecs."""
_VARIANCE_FLOOR = 0.3
"""Added to band variances, in squared grey levels (0.55 levels): 8-bit rounding alone makes 0.08."""
_LOWEST_LATTICE = 1 / 16
_DECIBELS = float(10 / np.log(10))


def components(reference: Features, candidate: Features) -> dict[str, float]:
    """Seven non-negative numbers, each 0 when nothing has drifted; `docs/drift.md` has formulas and units."""
    gain, offset = brightness(reference.mean, candidate.mean)
    number = len(reference.mean)
    smooth = np.argsort(reference.floor, kind="stable")[: (number + 1) // 2]
    textured = np.argsort(reference.bands[:, :2].sum(axis=1), kind="stable")[number // 2 :]
    excess = np.maximum(candidate.floor - _NOISE_SLACK * reference.floor, 0)
    octaves = 0.5 * np.log2(
        (candidate.bands[textured] + _VARIANCE_FLOOR) / (gain**2 * reference.bands[textured] + _VARIANCE_FLOOR)
    )
    apart = np.abs(octaves - np.median(octaves, axis=0))[:, 1:].mean(axis=1)
    tone = np.abs(candidate.mean - gain * reference.mean - offset)
    chroma = np.hypot(*(candidate.chroma - gain * reference.chroma).T)
    return {
        "noise": float(np.median(np.sqrt(excess[smooth]))),
        "texture": max(0.0, float(np.median(-octaves[:, :2].mean(axis=1)))),
        "lattice": _lattice(candidate.spectrum - reference.spectrum),
        "chroma": _without_highest_quarter(chroma),
        "contrast": max(0.0, *(float(np.median(octaves[:, band])) for band in (1, 2))),
        "structure": float(np.median(apart)),
        "tone": _without_highest_quarter(tone),
    }


def brightness(reference: NDArray[np.float64], candidate: NDArray[np.float64]) -> tuple[float, float]:
    """Gain and offset in grey levels (0.9 to 1.1 and -25.5 to 25.5) that best explain the tile means.

    The gain is the value nearest to 1 between the Theil-Sen slopes of candidate on reference and of reference on
    candidate (inverted): where tiles no longer match, either slope alone shrinks to 0 and would feign a darkening.
    """
    forward, backward = _slope(reference, candidate), _slope(candidate, reference)
    gain = 1.0
    if forward is not None and backward is not None and min(forward, backward) > 0:
        low, high = sorted((forward, 1 / backward))
        gain = float(np.clip(np.clip(1.0, low, high), *_GAIN))
    return gain, float(np.clip(np.median(candidate - gain * reference), -_OFFSET, _OFFSET))


def _slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    first, second = np.triu_indices(len(x), 1)
    run = x[second] - x[first]
    apart = np.abs(run) > _APART
    if apart.sum() < _FEWEST_PAIRS:
        return None
    return float(np.median((y[second] - y[first])[apart] / run[apart]))


def _without_highest_quarter(values: NDArray[np.float64]) -> float:
    return float(np.sort(values)[: -(-3 * len(values) // 4)].mean())


def _lattice(growth: NDArray[np.float64]) -> float:
    """Highest peak, in decibels above its surroundings, of a T x (T/2 + 1) difference of log spectra."""
    tile = len(growth)
    mirrored = np.roll(growth[::-1], 1, axis=0)[:, -2:0:-1]
    # A sinusoid spreads over about 3 x 3 bins of a Hann-windowed tile; chance peaks do not.
    whole = uniform_filter(np.concatenate([growth, mirrored], axis=1), 3, mode="wrap")
    peaks = (whole - median_filter(whole, 9, mode="wrap"))[:, : tile // 2 + 1]
    radius = np.hypot(np.fft.fftfreq(tile)[:, None], np.fft.rfftfreq(tile)[None, :])
    return max(0.0, float(peaks[radius >= _LOWEST_LATTICE].max() * _DECIBELS))
