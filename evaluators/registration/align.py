"""Brings a candidate and its reference onto one pixel grid before they are compared pixel by pixel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
from PIL import Image

from turngate.evaluators.registration.fit import fit
from turngate.evaluators.registration.geometry import ORIENTATIONS, SAME, UPRIGHT, Geometry, View
from turngate.evaluators.registration.shift import MAX_SHIFT, common, estimate_shift, moved
from turngate.memo import Memo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.picture import Picture

__all__ = ["MAX_SHIFT", "VERSION", "Align", "AlignedImages", "Geometry", "locate", "register"]

VERSION = "2"
"""Raised when two images are laid on each other in another way: part of the versions of metrics that are not ours."""

Align = Literal["none", "shift", "crop", "full"]
"""What is undone before a comparison: `none`: nothing; `shift`: a translation; `crop`: a translation and a change of
scale along each axis, as by a crop that was enlarged back; `full`: that, mirroring and quarter turns."""

_NEAR = 1.25
"""Up to this ratio of scales the reference is resampled, not the candidate."""
_ROUNDING = 1e-3
"""Pixels: edges nearer than this to a whole one lie on it."""

_shifts: Memo[tuple[float, float]] = Memo()
_fits: Memo[Geometry] = Memo()


@dataclass(frozen=True)
class AlignedImages:
    """Candidate and reference on one pixel grid."""

    candidate: NDArray[np.float32]
    """H x W x 3, 0..255."""
    reference: NDArray[np.float32]
    """H x W x 3, 0..255, the same area."""
    flags: tuple[str, ...]
    """What was done: `resized:...`, `shifted:dx,dy` (pixels that the candidate was moved by), `cropped:...`, ..."""
    components: Mapping[str, float] = field(default_factory=dict)
    """The same in numbers: see `Geometry.components`; `shift` has `shift_x` and `shift_y`, `none` nothing."""
    key: tuple[str, str, Align] | None = None
    """SHA-256 of candidate and reference, and what was undone: two pairs with one key have the same pixels."""


def register(candidate: Picture, reference: Picture, align: Align) -> AlignedImages:
    """Bring both onto one grid, as much as `align` says, and cut them to what both show.

    `none` and `shift` resize a candidate of another size to the reference's. `shift` then moves the candidate (by a
    tenth of a pixel, `MAX_SHIFT` at most). `crop` and `full` leave the candidate's pixels alone and resample the
    reference onto them, for interpolation smooths noise: a candidate with noise of 40 grey levels would gain up to
    1.6 dB. Only when the scales differ by more than a quarter is the candidate resampled. A fit that is not believed
    (flag `unregistered:...`) leaves the whole frames to be compared as by `none`.
    """
    key = (candidate.sha256, reference.sha256, align)
    if align in ("crop", "full"):
        geometry = locate(candidate, reference, align)
        pixels = geometry.orientation.undo(candidate.rgb)
        if geometry.refused or (geometry.view == SAME and geometry.candidate == geometry.reference):
            two = (_resized(pixels, reference), _float(reference.rgb))
        else:
            two = _cut(pixels, reference.rgb, geometry)
        return AlignedImages(*two, geometry.flags(), geometry.components(), key)
    flags, components = [], {}
    if (candidate.width, candidate.height) != (reference.width, reference.height):
        flags.append(f"resized:{candidate.width}x{candidate.height}->{reference.width}x{reference.height}")
    left, right = _resized(candidate.rgb, reference), _float(reference.rgb)
    if align == "shift":
        shift = _shifts.get((candidate.sha256, reference.sha256), lambda: estimate_shift(left, right))
        components = {"shift_x": shift[1], "shift_y": shift[0]}
        if shift != (0.0, 0.0):
            flags.append(f"shifted:{shift[1]:+.1f},{shift[0]:+.1f}")
            left, right = moved(left, shift), common(right, shift)
    return AlignedImages(left, right, tuple(flags), components, key)


def locate(candidate: Picture, reference: Picture, align: Literal["crop", "full"]) -> Geometry:
    """Where the candidate lies on the reference; remembered for the next evaluator that looks at the same two."""
    orientations = ORIENTATIONS if align == "full" else (UPRIGHT,)
    key = (candidate.sha256, reference.sha256, align)
    return _fits.get(key, lambda: fit(reference.rgb, candidate.rgb, orientations))


def _cut(
    candidate: NDArray[np.uint8], reference: NDArray[np.uint8], geometry: Geometry
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    view, scale = geometry.view, sqrt(geometry.scales[0] * geometry.scales[1])
    if 1 / _NEAR <= scale <= _NEAR:
        back = View(1 / view.scale_x, 1 / view.scale_y, -view.offset_x / view.scale_x, -view.offset_y / view.scale_y)
        return _shared(candidate, reference, back)
    still, resampled = _shared(reference, candidate, view)
    return resampled, still


def _shared(
    still: NDArray[np.uint8], other: NDArray[np.uint8], view: View
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The whole pixels of `still` that `other` covers, and `other` resampled there; what is at u is at view(u)."""
    left, right, box_left, box_right = _side(view.scale_x, view.offset_x, still.shape[1], other.shape[1])
    top, bottom, box_top, box_bottom = _side(view.scale_y, view.offset_y, still.shape[0], other.shape[0])
    image = Image.fromarray(np.ascontiguousarray(other))
    box = (box_left, box_top, box_right, box_bottom)
    resampled = image.resize((right - left, bottom - top), Image.Resampling.LANCZOS, box=box)
    return _float(still[top:bottom, left:right]), _float(np.asarray(resampled))


def _side(scale: float, offset: float, here: int, there: int) -> tuple[int, int, float, float]:
    """First pixel and pixel after the last along a side of `here` pixels, and where they lie on one of `there`."""
    first = max(0, ceil(-offset / scale * here - _ROUNDING))
    after = min(here, floor((1 - offset) / scale * here + _ROUNDING))
    begin, end = ((scale * at / here + offset) * there for at in (first, after))
    return first, after, max(0.0, begin), min(float(there), end)


def _resized(rgb: NDArray[np.uint8], like: Picture) -> NDArray[np.float32]:
    size = (like.width, like.height)
    if size == (rgb.shape[1], rgb.shape[0]):
        return _float(rgb)
    return _float(np.asarray(Image.fromarray(np.ascontiguousarray(rgb)).resize(size, Image.Resampling.LANCZOS)))


def _float(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    return rgb.astype(np.float32)
