"""Where a reference lies in a candidate: a shift and a scale along each axis, from the correlation of tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

from turngate.evaluators.drift.tiles import Places, basis, cut, places, spectra, tile_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SAME", "Fit", "locate"]

_COARSE = 64
"""Longer side, pixels, at which the shift is first looked for."""
_FARTHEST = 0.2
"""Largest shift, as a share of a side."""
_LARGEST_SCALE = 0.12
_CLEAR = 5.0
"""A tile's correlation peak counts from this many standard deviations."""
_AGREE = 1.5
"""Pixels within which a tile agrees with the fit."""
_GRID = 256
"""Steps per pixel on which the ends of a fit lie: what is below that depends on the processor."""
_WHOLE = 0.06
"""Pixels: a fit nearer than this to a shift by whole pixels is one."""


@dataclass(frozen=True)
class Fit:
    """(y, x) of the reference is at (y + down + stretch_y * y, x + right + stretch_x * x) of the candidate."""

    down: float = 0.0
    stretch_y: float = 0.0
    right: float = 0.0
    stretch_x: float = 0.0
    found: bool = False
    """False: tiles did not agree, the frames are compared as they are."""

    def forward(
        self, y: NDArray[np.float64], x: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Places in the candidate of places in the reference."""
        return y + self.down + self.stretch_y * y, x + self.right + self.stretch_x * x

    @property
    def scale(self) -> float:
        """Candidate pixels per reference pixel."""
        return float(np.sqrt((1 + self.stretch_y) * (1 + self.stretch_x)))

    @property
    def whole(self) -> bool:
        """A shift by whole pixels, or none."""
        return (
            self.stretch_y == self.stretch_x == 0 and self.down == round(self.down) and self.right == round(self.right)
        )


SAME = Fit()


def locate(reference: NDArray[np.float32], candidate: NDArray[np.float32]) -> Fit:
    """Fit two luma planes of one pixel scale, up to a fifth of a side and a scale of 12 %; from coarse to fine.

    A fit is believed where at least half of the tiles with a clear peak agree with it (Theil-Sen lines through their
    displacements); otherwise the coarser one stands, or `SAME`.
    """
    guess, fit = _shift(reference, candidate), SAME
    longer, shorter = max(reference.shape), min(*reference.shape, *candidate.shape)
    reductions = [by for by in (8, 4, 2) if longer >= 192 * by and shorter >= 64 * by] + [1, 1]
    for by in reductions:
        better = _refined(_reduced(reference, by), _reduced(candidate, by), fit if fit.found else guess, by)
        fit = better or fit
    return _snapped(fit, reference.shape)


def _reduced(plane: NDArray[np.float32], by: float) -> NDArray[np.float32]:
    import cv2

    if by == 1:
        return plane
    height, width = (max(8, round(side / by)) for side in plane.shape)
    return cv2.resize(plane.astype(np.float64), (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)


def _shift(reference: NDArray[np.float32], candidate: NDArray[np.float32]) -> Fit:
    by = max(reference.shape) / _COARSE
    small = [_reduced(plane, by) for plane in (reference, candidate)]
    height, width = (min(sides) for sides in zip(small[0].shape, small[1].shape, strict=True))
    window = np.outer(np.hanning(height), np.hanning(width)).astype(np.float32)
    before, after = (fft.rfft2((plane[:height, :width] - plane.mean()) * window) for plane in small)
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :])
    peaks = fft.irfft2(_whitened(after * before.conj()) * np.exp(-((radius / 0.3) ** 2)), (height, width))
    far = [np.abs(np.fft.fftfreq(side)) > _FARTHEST for side in (height, width)]
    peaks[far[0][:, None] | far[1][None, :]] = -np.inf
    down, right = np.unravel_index(int(peaks.argmax()), peaks.shape)
    return Fit(float(_signed(down, height)) * by, 0.0, float(_signed(right, width)) * by, 0.0)


def _refined(reference: NDArray[np.float32], candidate: NDArray[np.float32], guess: Fit, by: int) -> Fit | None:
    height, width = reference.shape
    tile = tile_for(height, width)
    if min(*reference.shape, *candidate.shape) < tile:
        return None
    here = places(0, 0, height, width)
    centres = here.centres
    y, x = Fit(guess.down / by, guess.stretch_y, guess.right / by, guess.stretch_x).forward(*centres)
    tops = np.clip(np.rint(y - tile / 2), 0, candidate.shape[0] - tile).astype(np.intp)
    lefts = np.clip(np.rint(x - tile / 2), 0, candidate.shape[1] - tile).astype(np.intp)
    there = Places(tile, here.grid, tops, lefts)
    cross = spectra(cut(candidate, there)) * spectra(cut(reference, here)).conj()
    down, right, clear = _displacements(cross, tile)
    clear &= np.maximum(np.abs(down), np.abs(right)) < tile / 4
    lines = (
        _line(centres[0], tops - here.tops + down, clear, height),
        _line(centres[1], lefts - here.lefts + right, clear, width),
    )
    if lines[0] is None or lines[1] is None:
        return None
    return Fit(lines[0][0] * by, lines[0][1], lines[1][0] * by, lines[1][1], True)


def _displacements(
    cross: NDArray[np.complex64], tile: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Shift of each tile, down and right, to a fraction of a pixel, and whether its peak is clear."""
    radius = basis(tile).radius
    peaks = fft.irfft2(_whitened(cross) * np.where(radius > 0.03, np.exp(-((radius / 0.2) ** 2)), 0), (tile, tile))
    flat = peaks.reshape(len(peaks), -1)
    at = flat.argmax(axis=1)
    clear = flat[np.arange(len(flat)), at] > _CLEAR * flat.std(axis=1)
    down, right = _signed(at // tile, tile), _signed(at % tile, tile)
    # The slope of the phase that the whole shift leaves, weighted by power: sharper than the top of the peak.
    fy, fx = np.broadcast_arrays(np.fft.fftfreq(tile)[:, None], np.fft.rfftfreq(tile)[None, :])
    phase = np.exp(2j * np.pi * (down[:, None, None] * fy + right[:, None, None] * fx))
    left = np.where((radius > 0.02) & (radius < 0.2), cross * phase, 0).reshape(len(cross), -1)
    weight, angle = np.abs(left), -np.angle(left) / (2 * np.pi)
    fy, fx = fy.ravel(), fx.ravel()
    yy, xx, yx = (weight @ product for product in (fy * fy, fx * fx, fy * fx))
    ya, xa = (weight * angle) @ fy, (weight * angle) @ fx
    determinant = np.maximum(yy * xx - yx * yx, 1e-12)
    more = (ya * xx - xa * yx) / determinant, (xa * yy - ya * yx) / determinant
    return down + np.clip(more[0], -1, 1), right + np.clip(more[1], -1, 1), clear


def _line(
    at: NDArray[np.float64], moved: NDArray[np.float64], clear: NDArray[np.bool_], length: int
) -> tuple[float, float] | None:
    """Offset and slope of the displacements that are clear; None when fewer than half of them agree."""
    if clear.sum() < 4:
        return None
    x, y = at[clear], moved[clear]
    first, second = np.triu_indices(len(x), 1)
    run = x[second] - x[first]
    apart = np.abs(run) > 0.3 * length
    slope = float(np.median((y[second] - y[first])[apart] / run[apart])) if apart.sum() >= 6 else 0.0
    if abs(slope) > _LARGEST_SCALE:
        slope = 0.0
    offset = float(np.median(y - slope * x))
    return (offset, slope) if (np.abs(y - offset - slope * x) < _AGREE).mean() >= 0.5 else None


def _snapped(fit: Fit, size: tuple[int, ...]) -> Fit:
    """A shift by whole pixels where the fit is as good as one; otherwise first and last row on the grid."""
    whole, lines = [], []
    for offset, slope, side in ((fit.down, fit.stretch_y, size[0]), (fit.right, fit.stretch_x, size[1])):
        middle, swing = offset + slope * side / 2, abs(slope) * side / 2
        whole.append(float(round(middle)) if abs(middle - round(middle)) + swing < _WHOLE else None)
        begin, end = (round(at * _GRID) / _GRID for at in (offset, offset + slope * side))
        lines.append((begin, (end - begin) / side))
    if whole[0] is not None and whole[1] is not None:
        return Fit(whole[0], 0.0, whole[1], 0.0, fit.found)
    return Fit(*lines[0], *lines[1], fit.found)


def _whitened(cross: NDArray[np.complex64]) -> NDArray[np.complex64]:
    """Half-way between correlation and phase correlation: sharp peaks, and weak frequencies stay weak."""
    whitened: NDArray[np.complex64] = (cross / np.sqrt(np.abs(cross) + np.float32(1e-3))).astype(np.complex64)
    return whitened


def _signed(at: NDArray[np.intp] | np.intp, length: int) -> NDArray[np.float64]:
    """Index of a circular correlation as a shift to either side."""
    return np.where(np.asarray(at) > length // 2, np.asarray(at) - length, at).astype(np.float64)
