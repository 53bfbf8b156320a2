"""From two pictures to growth: one scale, the fit, the tiles; and what was measured before is remembered."""

from __future__ import annotations

from math import log, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from turngate.evaluators.drift.growth import Growth, growth
from turngate.evaluators.drift.locate import locate
from turngate.evaluators.drift.pair import pair
from turngate.evaluators.drift.tiles import Planes, planes
from turngate.evaluators.result import Unscored
from turngate.memo import Memo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.picture import Picture

__all__ = ["SMALLEST", "DriftMeter"]

SMALLEST = 64
"""Shortest side, pixels, that can be measured."""

_FLAT = 1.0
"""Standard deviation of luma, grey levels, from which an image has something to compare with."""
_FITTED = 0.1
"""Scales that differ by more than this are brought together before the fit is looked for."""
_RESIZED = 0.01
"""... and by more than this after it, where the fit says that the whole frame was resized, within `_SAME`."""
_SAME = 0.005
_REFERENCES, _STEPS = 2, 512
"""How many references and results are remembered; a chain scores each of its steps once."""


class DriftMeter:
    """Measures growth between pictures. The value of a call never depends on the calls before it."""

    def __init__(self) -> None:
        self._references: Memo[Planes] = Memo(_REFERENCES)
        self._steps: Memo[tuple[Growth, tuple[str, ...]] | Unscored] = Memo(_STEPS)

    def growth(self, reference: Picture, candidate: Picture) -> tuple[Growth, tuple[str, ...]] | Unscored:
        """Growth from one picture to the other and remarks on how they were compared.

        `Unscored`: `too_small` (either below 64 pixels a side, or what both show below one tile), `flat` (the
        reference has a luma deviation below one grey level).
        """
        key = (reference.sha256, candidate.sha256)
        return self._steps.get(key, lambda: self._measured(reference, candidate))

    def _measured(self, reference: Picture, candidate: Picture) -> tuple[Growth, tuple[str, ...]] | Unscored:
        sizes = [(picture.height, picture.width) for picture in (reference, candidate)]
        if min(map(min, sizes)) < SMALLEST:
            return Unscored("too_small", f"drift needs at least {SMALLEST} pixels a side in both images")
        ratio = sqrt(prod(sizes[1]) / prod(sizes[0]))
        shrunk = abs(log(ratio)) > _FITTED
        before, after = self._both(reference, candidate, ratio if shrunk else 1)
        if min(*before.size, *after.size) < SMALLEST // 2:
            return Unscored("too_small", f"shrunk to one scale, an image has a side below {SMALLEST // 2} pixels")
        if before.luma.std() < _FLAT:
            return Unscored("flat", "the reference has no structure to compare with")
        fit = locate(before.luma, after.luma)
        if not shrunk and abs(log(ratio)) > _RESIZED and fit.found and abs(log(fit.scale / ratio)) < _SAME:
            shrunk = True
            before, after = self._both(reference, candidate, ratio)
            fit = locate(before.luma, after.luma)
        two = pair(before, after, fit)
        if two is None:
            return Unscored("too_small", "what both images show is smaller than one tile")
        grown = growth(two)
        flags = []
        if shrunk:
            flags.append(f"{'candidate' if ratio > 1 else 'reference'}_resized:{min(ratio, 1 / ratio):.3f}")
        if not fit.found:
            flags.append("unregistered")
        if grown.edited:
            flags.append(f"edited:{grown.edited:.2f}")
        return grown, tuple(flags)

    def _both(self, reference: Picture, candidate: Picture, ratio: float) -> tuple[Planes, Planes]:
        """Planes of the two, the larger shrunk by `ratio`, candidate pixels per reference pixel."""
        key = (reference.sha256, min(ratio, 1))
        before = self._references.get(key, lambda: planes(_shrunk(reference, ratio)))
        return before, planes(_shrunk(candidate, 1 / ratio))


def _shrunk(picture: Picture, ratio: float) -> NDArray[np.uint8]:
    if ratio >= 1:
        return picture.rgb
    size = (round(picture.width * ratio), round(picture.height * ratio))
    return np.asarray(Image.fromarray(picture.rgb).resize(size, Image.Resampling.LANCZOS))
