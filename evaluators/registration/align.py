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

__all__ = ["MAX_SHIFT", "VERSION", "Align", "AlignedImages", "Geometry", "locate", "register", "same_pixels"]

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
    window: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    """The part of the reference that both show: left, top, right, bottom as shares of its width and height."""
    identical: bool = False
    """Candidate and reference had the same pixels before anything was done."""


def same_pixels(candidate: Picture, reference: Picture) -> bool:
    """Whether two pictures have the same size and, decoded, the same pixels; their files may differ."""
    if candidate.sha256 == reference.sha256:
        return True
    return candidate.rgb.shape == reference.rgb.shape and bool(np.array_equal(candidate.rgb, reference.rgb))


def register(candidate: Picture, reference: Picture, align: Align) -> AlignedImages:
    """Bring both onto one grid, as much as `align` says, and cut them to what both show.

    `none` and `shift` resize a candidate of another size to the reference's. `shift` then moves the candidate (by a
    tenth of a pixel, `MAX_SHIFT` at most). `crop` and `full` leave the candidate's pixels alone and resample the
    reference onto them, for interpolation smooths noise: a candidate with noise of 40 grey levels would gain up to
    1.6 dB. Only when the scales differ by more than a quarter is the candidate resampled. A fit that is not believed
    (flag `unregistered:...`) leaves the whole frames to be compared as by `none`.
    """
    key = (candidate.sha256, reference.sha256, align)
    identical = same_pixels(candidate, reference)
    window = (0.0, 0.0, 1.0, 1.0)
    if align in ("crop", "full"):
        geometry = locate(candidate, reference, align)
        pixels = geometry.orientation.undo(candidate.rgb)
        if geometry.refused or (geometry.view == SAME and geometry.candidate == geometry.reference):
            two = (_resized(pixels, reference), _float(reference.rgb))
        else:
            cut, shown, window = _cut(pixels, reference.rgb, geometry)
            two = (cut, shown)
        return AlignedImages(*two, geometry.flags(), geometry.components(), key, window, identical)
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
            window = _kept(shift, reference)
    return AlignedImages(left, right, tuple(flags), components, key, window, identical)


def locate(candidate: Picture, reference: Picture, align: Literal["crop", "full"]) -> Geometry:
    """Where the candidate lies on the reference; remembered for the next evaluator that looks at the same two."""
    orientations = ORIENTATIONS if align == "full" else (UPRIGHT,)
    key = (candidate.sha256, reference.sha256, align)
    return _fits.get(key, lambda: fit(reference.rgb, candidate.rgb, orientations))


def _kept(shift: tuple[float, float], reference: Picture) -> tuple[float, float, float, float]:
    """What `common` leaves of the reference after a shift by rows and columns, as shares."""
    down, right = (ceil(abs(step)) * (1 if step > 0 else -1) for step in shift)
    height, width = reference.height, reference.width
    return max(right, 0) / width, max(down, 0) / height, 1 + min(right, 0) / width, 1 + min(down, 0) / height


_Window = tuple[float, float, float, float]


def _cut(
    candidate: NDArray[np.uint8], reference: NDArray[np.uint8], geometry: Geometry
) -> tuple[NDArray[np.float32], NDArray[np.float32], _Window]:
    """Candidate and reference where both show something, and which part of the reference that is."""
    view, scale = geometry.view, sqrt(geometry.scales[0] * geometry.scales[1])
    if 1 / _NEAR <= scale <= _NEAR:
        back = View(1 / view.scale_x, 1 / view.scale_y, -view.offset_x / view.scale_x, -view.offset_y / view.scale_y)
        still, resampled, _, window = _shared(candidate, reference, back)
        return still, resampled, window
    still, resampled, window, _ = _shared(reference, candidate, view)
    return resampled, still, window


def _shared(
    still: NDArray[np.uint8], other: NDArray[np.uint8], view: View
) -> tuple[NDArray[np.float32], NDArray[np.float32], _Window, _Window]:
    """The whole pixels of `still` that `other` covers, and `other` resampled there; what is at u is at view(u).

    After them the parts of `still` and of `other` that these are, as shares.
    """
    left, right, box_left, box_right = _side(view.scale_x, view.offset_x, still.shape[1], other.shape[1])
    top, bottom, box_top, box_bottom = _side(view.scale_y, view.offset_y, still.shape[0], other.shape[0])
    image = Image.fromarray(np.ascontiguousarray(other))
    box = (box_left, box_top, box_right, box_bottom)
    resampled = image.resize((right - left, bottom - top), Image.Resampling.LANCZOS, box=box)
    (height, width), (rows, columns) = still.shape[:2], other.shape[:2]
    here = (left / width, top / height, right / width, bottom / height)
    there = (box_left / columns, box_top / rows, box_right / columns, box_bottom / rows)
    return _float(still[top:bottom, left:right]), _float(np.asarray(resampled)), here, there


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
