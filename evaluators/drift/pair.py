"""Two images tile by tile: brought together by a fit, with the tiles that were edited marked."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import binary_propagation

from turngate.evaluators.drift.locate import Fit
from turngate.evaluators.drift.tiles import (
    Features,
    Places,
    Planes,
    basis,
    beside_contours,
    cut,
    features,
    places,
    spectra,
    tile_for,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OFFSET", "TilePair", "brightness", "pair"]


# The change of brightness between two images that an edit may make.

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


_EDITED, _TOUCHED = 0.5, 0.15
"""Change of a tile, in units of its own contrast, from which it was edited, and from which a neighbour of one was."""
_OUTLIER = 3.0
"""... and how many times the median change it must be: where everything changes, nothing was edited."""
_CONTRAST_FLOOR = 6.0
"""Added to a tile's contrast, grey levels: an object may be pasted where there was none."""
_MOST_EDITED = 0.4
"""Share of the tiles."""
_TINY = 1e-3


@dataclass(frozen=True, eq=False)
class TilePair:
    """A reference and a candidate, measured in N tiles that show the same places."""

    before: Features
    after: Features
    matched: NDArray[np.float64]
    """N x 3 x 2: per band, the variance of the reference on the candidate's grid and the covariance of the two."""
    halo: NDArray[np.float64]
    """M x 2: mean square of `Planes.band` beside contours, before and after, of the tiles that have contours."""
    halo_tiles: NDArray[np.intp]
    """M: which tiles they are."""
    gain: float
    offset: float
    """Change of brightness (`brightness`)."""
    edited: NDArray[np.bool_]
    """N: content was replaced there, and the rest was not."""


def pair(reference: Planes, candidate: Planes, fit: Fit) -> TilePair | None:
    """Measure what both show; None when that is less than a tile."""
    top, bottom = _overlap(fit.down, fit.stretch_y, reference.size[0], candidate.size[0])
    left, right = _overlap(fit.right, fit.stretch_x, reference.size[1], candidate.size[1])
    tile = tile_for(bottom - top, right - left)
    if min(bottom - top, right - left) < tile:
        return None
    here = places(top, left, bottom - top, right - left)
    y, x = fit.forward(*here.centres)
    tops, lefts = (
        np.clip(np.rint(at - tile / 2), 0, side - tile).astype(np.intp)
        for at, side in zip((y, x), candidate.size, strict=True)
    )
    there = Places(tile, here.grid, tops, lefts)
    before, after = features(reference, here), features(candidate, there)
    kept = np.ones(len(before.mean), dtype=bool)
    # An edited tile may pull the brightness, and the brightness decides what was edited: twice is enough.
    for _ in range(2):
        contrast = float(np.sqrt(np.median(after.bands[kept, 2] / (before.bands[kept, 2] + _TINY))))
        gain, offset = brightness(before.mean[kept], after.mean[kept], contrast)
        kept = ~_edited(_change(before.blocks, gain, offset, after.blocks), here.grid)
    tiles, halo = _halo(reference, here, before, after)
    matched = _matched(reference, candidate, fit, there, before, after)
    return TilePair(before, after, matched, halo, tiles, gain, offset, ~kept)


def _overlap(offset: float, slope: float, reference: int, candidate: int) -> tuple[int, int]:
    """First row of the reference that the candidate shows, and the one after the last."""
    first, last = -offset / (1 + slope), (candidate - offset) / (1 + slope)
    return max(0, ceil(first - 0.25)), min(reference, floor(last + 0.25))


def _matched(
    reference: Planes, candidate: Planes, fit: Fit, there: Places, before: Features, after: Features
) -> NDArray[np.float64]:
    import cv2

    spectrum = before.spectrum
    if not fit.whole:
        # OpenCV counts from the middle of the first pixel.
        matrix = np.array([
            [1 + fit.stretch_x, 0, fit.right + fit.stretch_x / 2],
            [0, 1 + fit.stretch_y, fit.down + fit.stretch_y / 2],
        ])  # fmt: skip
        warped = cv2.warpAffine(
            reference.luma, matrix, candidate.size[::-1], flags=cv2.INTER_LANCZOS4, borderMode=cv2.BORDER_REFLECT_101
        )
        spectrum = spectra(cut(warped, there))
    # Not a product of complex numbers: those have fused multiply-adds on some processors.
    cross = after.spectrum.real * spectrum.real + after.spectrum.imag * spectrum.imag
    power = spectrum.real**2 + spectrum.imag**2
    weights = basis(there.tile).bands
    return np.stack([each.reshape(len(each), -1).astype(np.float64) @ weights for each in (power, cross)], axis=2)


def _halo(
    reference: Planes, here: Places, before: Features, after: Features
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    beside = cut(beside_contours(reference), here)
    number = beside.sum(axis=(1, 2))
    tiles = np.flatnonzero(number >= here.tile)
    squares = [np.where(beside, one.band**2, 0).sum(axis=(1, 2), dtype=np.float64)[tiles] for one in (before, after)]
    return tiles, np.stack(squares, axis=1) / number[tiles, None]


def _change(before: NDArray[np.float64], gain: float, offset: float, after: NDArray[np.float64]) -> NDArray[np.float64]:
    """N: change of the blocks' colours beyond brightness, over the contrast that the tile had."""
    apart = np.sqrt(np.square(after - gain * before - offset).mean(axis=(1, 2)))
    contrast: NDArray[np.float64] = before.std(axis=1).mean(axis=1)
    change: NDArray[np.float64] = apart / (contrast + _CONTRAST_FLOOR)
    return change


def _edited(change: NDArray[np.float64], grid: tuple[int, int]) -> NDArray[np.bool_]:
    """The change map's mask: outliers and what touches them, at most two fifths of the tiles."""
    typical = float(np.median(change))
    seeds = change > max(_EDITED, _OUTLIER * typical)
    touched = change > max(_TOUCHED, _OUTLIER * typical)
    square = np.ones((3, 3), dtype=bool)
    mask = binary_propagation(seeds.reshape(grid), square, mask=(touched | seeds).reshape(grid)).ravel()
    most = int(_MOST_EDITED * len(change))
    if mask.sum() > most:
        mask = np.zeros(len(change), dtype=bool) | (np.argsort(np.argsort(-change, kind="stable")) < most)
    return np.asarray(mask, dtype=bool)
