"""Decides what is believed of the view that was found, and how much of it is needed to explain the candidate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import atanh, sqrt
from typing import TYPE_CHECKING

import numpy as np

from turngate.evaluators.registration.geometry import SAME, Geometry, Orientation, View
from turngate.evaluators.registration.search import BestView, finer, search, uncertainty

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fit"]

_SMALLEST = 16
"""Shorter side, pixels, below which there is nothing to correlate."""
_CHANCE, _CHANCE_PIXELS = 0.2, 18.0
"""A fit is believed from a correlation of 0.2 + 18 / sqrt(pixels in common): above what the best of all views of two
unrelated photographs reached (0.10 at 512 pixels a side, 0.30 at 128, 0.42 at 64, 0.67 at 32; 60 pairs each)."""
_SLACK = 0.01
"""A simpler view is taken when the inverse hyperbolic tangent of its correlation is lower by no more than this, ..."""
_CLOSE = 0.1
"""... or when its edges are no further away than this, in pixels of the candidate."""


def fit(reference: NDArray[np.uint8], candidate: NDArray[np.uint8], orientations: Sequence[Orientation]) -> Geometry:
    """Where a candidate lies on its reference, both H x W x 3; the whole frame with `refused` when it is not believed.

    The simplest that explains it is taken: the whole frame, a shift by whole pixels, a shift, then scales as well. So
    what is returned never correlates worse than the whole frame by more than the slack, and a candidate that was not
    moved is not resampled for a hundredth of a pixel. Edges lie on a grid of 1 / `GRID` pixel, confidence is rounded to
    four decimals, uncertainty and tilt to two: what is below that depends on the processor.
    """
    whole = Geometry(_size(reference), _size(candidate), confidence=0.0)
    if reference.shape == candidate.shape and np.array_equal(reference, candidate):
        return replace(whole, confidence=1.0)
    if min(*whole.reference, *whole.candidate) < _SMALLEST:
        return replace(whole, refused="too_small")
    if np.ptp(reference) == 0 or np.ptp(candidate) == 0:
        return replace(whole, refused="flat")
    found = search(reference, candidate, orientations)
    rows, columns = found.judge.common(found.view)
    pixels = max(1, rows.stop - rows.start) * max(1, columns.stop - columns.start)
    confidence = min(1.0, max(0.0, found.correlation))
    if confidence < _CHANCE + _CHANCE_PIXELS / sqrt(pixels):
        return replace(whole, confidence=round(confidence, 4), refused="no_match")
    upright = found.orientation.undo(candidate)
    geometry = replace(whole, candidate=_size(upright), orientation=found.orientation)
    view = _simplest(found, geometry)
    if view is None:
        view = finer(reference, upright, found.view)
    view = view.snapped(*geometry.candidate)
    confidence = round(min(1.0, max(0.0, found.judge.correlation(view))), 4)
    doubt = round(uncertainty(reference, upright, view), 2)
    return replace(geometry, view=view, confidence=confidence, uncertainty=doubt, tilt=round(_tilt(found, geometry), 2))


def _simplest(found: BestView, geometry: Geometry) -> View | None:
    """A simpler view that explains the candidate as well; None when there is none."""
    needed = _spread(found.correlation) - _SLACK
    for view in (SAME, *_shifts(found.view, geometry)):
        across, down = view.apart(found.view)
        close = max(across * geometry.candidate[0], down * geometry.candidate[1]) <= _CLOSE
        if close or _spread(found.judge.correlation(view)) >= needed:
            return view
    return None


def _shifts(view: View, geometry: Geometry) -> Iterator[View]:
    """The same middle without a change of scale: to whole pixels, then as it was found."""
    sides = tuple(there / here for there, here in zip(geometry.candidate, geometry.reference, strict=True))
    unscaled = View.centred(1 / sides[0], 1 / sides[1])
    right = (view.scale_x - 1) / 2 + view.offset_x
    down = (view.scale_y - 1) / 2 + view.offset_y
    shifted = unscaled.moved(right, down)
    yield View(
        unscaled.scale_x,
        unscaled.scale_y,
        round(shifted.offset_x * geometry.candidate[0]) / geometry.candidate[0],
        round(shifted.offset_y * geometry.candidate[1]) / geometry.candidate[1],
    )
    yield shifted


def _tilt(found: BestView, geometry: Geometry) -> float:
    """Degrees clockwise; 0 where it cannot be measured."""
    matrix = found.judge.maximised(found.view, 20)
    if matrix is None:
        return 0.0
    # The candidate was squeezed to the reference's shape.
    sides = [there / here for there, here in zip(geometry.candidate, geometry.reference, strict=True)]
    native = matrix[:, :2] * np.array(sides)[:, None]
    return float(np.degrees(np.arctan2(native[1, 0] - native[0, 1], native[0, 0] + native[1, 1])))


def _spread(correlation: float) -> float:
    """Fisher's transformation, with correlations kept off 1."""
    return atanh(min(0.9999, max(-0.9999, correlation)))


def _size(rgb: NDArray[np.uint8]) -> tuple[int, int]:
    return rgb.shape[1], rgb.shape[0]
