"""Finds how a candidate lies on its reference: a coarse search over scales and shifts, refined on finer images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from turngate.evaluators.registration.geometry import SAME, Orientation, View
from turngate.luma import luma_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BestView", "ContrastLevel", "finer", "level", "reduced", "search", "uncertainty"]


# One resolution at which a candidate is laid on its reference.

_LEVELS = 2.0
"""Added to the local contrast, in grey levels: less than this is no structure."""
_BLUR = 1.0
"""Low pass before images are correlated, in pixels: resampling smooths noise, which must not pass for a better fit."""
_WINDOW = 5
"""Side of the Gaussian window that OpenCV smooths both images with before it refines, in pixels."""
_FEWEST = 64
"""Pixels in common below which a correlation says nothing."""


@dataclass(frozen=True)
class ContrastLevel:
    """Reference and candidate at one size, as local contrast: (luma - local mean) / local deviation.

    That hardly changes with colour casts, blotches, contrast that runs away and pasted objects, and plain luma does:
    refined from the whole frame, 71 of 600 known warps of worn photographs were missed by it, 19 by local contrast.
    """

    reference: NDArray[np.float32]
    candidate: NDArray[np.float32]
    """H x W, squeezed to the reference's shape."""
    smooth_reference: NDArray[np.float32]
    smooth_candidate: NDArray[np.float32]
    """The same after a low pass: what `correlation` compares."""

    @property
    def width(self) -> int:
        """Pixels."""
        return int(self.reference.shape[1])

    @property
    def height(self) -> int:
        """Pixels."""
        return int(self.reference.shape[0])

    def seen(self, view: View) -> NDArray[np.float32]:
        """The smoothed candidate, brought onto the reference's grid; 0 outside its frame."""
        import cv2

        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        matrix = view.matrix(self.width, self.height)
        return np.asarray(cv2.warpAffine(self.smooth_candidate, matrix, (self.width, self.height), flags=flags))

    def common(self, view: View) -> tuple[slice, slice]:
        """Rows and columns of the reference that the candidate shows, a pixel away from where it ends."""
        left, top, right, bottom = view.seen()
        return (
            slice(int(np.ceil(top * self.height)) + (top > 0), int(bottom * self.height) - (bottom < 1)),
            slice(int(np.ceil(left * self.width)) + (left > 0), int(right * self.width) - (right < 1)),
        )

    def correlation(self, view: View) -> float:
        """Pearson correlation of the local contrast over what both show, -1 to 1; 0 when that is next to nothing."""
        common = self.common(view)
        first = self.smooth_reference[common]
        if first.size < _FEWEST:
            return 0.0
        second = self.seen(view)[common]
        first, second = first - first.mean(), second - second.mean()
        scale = float(np.sqrt(np.square(first).sum(dtype=np.float64) * np.square(second).sum(dtype=np.float64)))
        return float((first * second).sum(dtype=np.float64)) / scale if scale > 0 else 0.0

    def refined(self, view: View, steps: int) -> View:
        """The view after at most `steps` of refinement; the same where that does not converge."""
        found = self.maximised(view, steps)
        return view if found is None else View.from_matrix(found, self.width, self.height)

    def maximised(self, view: View, steps: int, where: NDArray[np.uint8] | None = None) -> NDArray[np.float32] | None:
        """2 x 3 affine matrix, reference to candidate, of highest enhanced correlation; None without convergence.

        Evangelidis and Psarakis, IEEE TPAMI 30(10), 2008, as OpenCV has it. Pixels of the reference that are 0 in
        `where` do not count.
        """
        import cv2

        start = view.matrix(self.width, self.height)
        stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, steps, 1e-6)
        try:
            find: Any = cv2.findTransformECC  # its stubs do not know this form of the call
            found = find(self.reference, self.candidate, start, cv2.MOTION_AFFINE, stop, where, _WINDOW)
        except cv2.error:  # its way to say that too little is in common, or that it does not converge
            return None
        return np.asarray(found[1])


def reduced(rgb: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """The image at a longer side of at most `side` pixels, by area means."""
    height, width = rgb.shape[:2]
    scale = min(1.0, side / max(width, height))
    return _resized(rgb, (max(1, round(width * scale)), max(1, round(height * scale))))


def level(reference: NDArray[np.uint8], candidate: NDArray[np.uint8], side: int, radius: float) -> ContrastLevel:
    """Both H x W x 3 images at a longer side of at most `side` pixels; `radius` is the local window's sigma there."""
    import cv2

    small = reduced(reference, side)
    images = (small, _resized(candidate, (small.shape[1], small.shape[0])))
    first, second = (_local_contrast(luma_of(image) / np.float32(1000), radius) for image in images)
    smooth = [np.asarray(cv2.GaussianBlur(image, (0, 0), _BLUR), np.float32) for image in (first, second)]
    return ContrastLevel(first, second, smooth[0], smooth[1])


def _resized(rgb: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    import cv2

    if size == (rgb.shape[1], rgb.shape[0]):
        return rgb
    return np.asarray(cv2.resize(np.ascontiguousarray(rgb), size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _local_contrast(luma: NDArray[np.float32], radius: float) -> NDArray[np.float32]:
    import cv2

    rest = luma - np.asarray(cv2.GaussianBlur(luma, (0, 0), radius, borderType=cv2.BORDER_REFLECT))
    spread = np.asarray(cv2.GaussianBlur(rest * rest, (0, 0), radius, borderType=cv2.BORDER_REFLECT))
    return np.asarray(rest / np.sqrt(spread + _LEVELS**2), dtype=np.float32)


_ZOOMS = (1.0, 1.05, 1 / 1.05, 1.1, 1 / 1.1, 1.2, 1 / 1.2)
"""Scales tried at the coarsest level; refinement finds what lies between."""
_REACH = 0.25
"""Largest shift tried at the coarsest level, as a share of each side."""
_PEAKS = 2
_KEPT = 4
"""Starts that are refined."""
_SCALES = (0.5, 2.5)
_LEAST_OVERLAP = 0.3
"""Views outside these are wrong fits."""
_SIMILAR = 0.02
"""Views whose edges are nearer than this, in shares of the frame, end in the same fit."""
_COARSE, _MIDDLE, _FINE, _FINEST = (128, 4), (256, 6), (512, 8), (1024, 8)
"""Longer side of the images, and sigma of the local window, in pixels."""
_EQUAL = 1e-5
"""Correlations nearer than this to each other are equal."""
_TURNED = 1024
"""Longer side, pixels, to which a candidate is reduced before it is turned about."""
_ENOUGH = 640
"""Longer side, pixels, up to which a fit at 512 is as good as one at full size."""

_PARTED = 15
"""Steps of refinement of a part, from the view of the whole."""

_Rated = tuple[float, Orientation, View]


@dataclass(frozen=True)
class BestView:
    """The best view that was found."""

    orientation: Orientation
    view: View
    correlation: float
    """At a longer side of at most 512 pixels."""
    judge: ContrastLevel
    """The level at which it was judged."""


def search(reference: NDArray[np.uint8], candidate: NDArray[np.uint8], orientations: Sequence[Orientation]) -> BestView:
    """The view with the highest correlation of local contrast; deterministic, nothing is drawn at random."""
    small = reduced(candidate, _TURNED)

    @cache
    def at(orientation: Orientation, stage: tuple[int, int]) -> ContrastLevel:
        return level(reference, orientation.undo(small), *stage)

    found: list[_Rated] = []
    for orientation in orientations:
        coarse = at(orientation, _COARSE)
        views = _starts(coarse, _frames(reference, orientation.undo(candidate)))
        found += [(coarse.correlation(view), orientation, view) for view in views]
    found = [(1.0, orientations[0], SAME), *_best(found, _KEPT)]
    for stage, steps, kept in ((_COARSE, 50, _KEPT), (_MIDDLE, 40, 2), (_FINE, 20, 1)):
        refined = []
        for _, orientation, view in found:
            here = at(orientation, stage)
            better = _better(here, view, steps)
            refined.append((here.correlation(better), orientation, better))
        found = _best(refined, kept)
    correlation, orientation, view = found[0]
    return BestView(orientation, view, correlation, at(orientation, _FINE))


def finer(reference: NDArray[np.uint8], candidate: NDArray[np.uint8], view: View) -> View:
    """The view refined at up to 1024 pixels a side, where the images have that."""
    if max(reference.shape[:2]) <= _ENOUGH:
        return view
    return _better(level(reference, candidate, *_FINEST), view, 10)


def uncertainty(reference: NDArray[np.uint8], candidate: NDArray[np.uint8], view: View) -> float:
    """How far apart the candidate's edges lie when complementary parts of it are fitted by themselves, pixels of it.

    A 4 x 4 chequerboard and its complement; left and right half, upper and lower half, which lean on what they lack
    and count half. Where an image has next to no fine detail, parts drift away from each other, and the whole may be as
    far from the truth.
    """
    here = level(reference, candidate, *_MIDDLE)
    down, across = np.mgrid[: here.height, : here.width]
    sides = candidate.shape[1], candidate.shape[0]
    chequered = (down * 4 // here.height + across * 4 // here.width) % 2
    halves = (across * 2 // here.width, down * 2 // here.height)
    widest = 0.0
    for parts, weight in ((chequered, 1.0), *((half, 0.5) for half in halves)):
        fits = [here.maximised(view, _PARTED, (parts == part).astype(np.uint8)) for part in (0, 1)]
        if any(fit is None for fit in fits):
            continue  # a part without anything to hold on to
        one, other = (View.from_matrix(fit, here.width, here.height) for fit in fits if fit is not None)
        widest = max(widest, weight * max(apart * side for apart, side in zip(one.apart(other), sides, strict=True)))
    return widest


def _frames(reference: NDArray[np.uint8], candidate: NDArray[np.uint8]) -> list[View]:
    """Ways in which a frame of another shape may have come about."""
    across, down = (there / here for there, here in zip(candidate.shape[1::-1], reference.shape[1::-1], strict=True))
    uniform = {1.0, max(across, down), min(across, down)}  # cut out, cropped to the shape, letterboxed into it
    frames = [SAME]  # stretched
    for scale in sorted(uniform):
        frame = View.centred(scale / across, scale / down)
        if _plausible(frame) and all(max(frame.apart(other)) > _SIMILAR for other in frames):
            frames.append(frame)
    return frames


def _starts(coarse: ContrastLevel, frames: Sequence[View]) -> Iterator[View]:
    """The highest peaks of the cross-correlation at each scale of each frame."""
    from scipy.fft import irfft2, rfft2

    width, height = coarse.width, coarse.height
    window = np.sqrt(np.outer(np.hanning(height + 2)[1:-1], np.hanning(width + 2)[1:-1])).astype(np.float32)
    shape = (2 * height, 2 * width)
    still = np.conj(rfft2(coarse.smooth_reference * window, shape))
    reach_y, reach_x = int(height * _REACH), int(width * _REACH)
    for frame in frames:
        for zoom in _ZOOMS:
            view = View.centred(frame.scale_x * zoom, frame.scale_y * zoom)
            peaks = irfft2(still * rfft2(coarse.seen(view) * window, shape), shape)
            peaks = np.roll(peaks, (reach_y, reach_x), (0, 1))[: 2 * reach_y + 1, : 2 * reach_x + 1]
            for _ in range(_PEAKS):
                row, column = np.unravel_index(int(peaks.argmax()), peaks.shape)
                right = (column - reach_x) / width * view.scale_x
                down = (row - reach_y) / height * view.scale_y
                yield view.moved(float(right), float(down))
                peaks[max(0, row - 3) : row + 4, max(0, column - 3) : column + 4] = -np.inf


def _better(at: ContrastLevel, view: View, steps: int) -> View:
    """The refined view, unless it is worse: equally good ones, but for rounding, are the refined one everywhere."""
    refined = at.refined(view, steps)
    good = _plausible(refined) and at.correlation(refined) >= at.correlation(view) - _EQUAL
    return refined if good else view


def _plausible(view: View) -> bool:
    low, high = _SCALES
    return low <= view.scale_x <= high and low <= view.scale_y <= high and view.overlap() >= _LEAST_OVERLAP


def _best(rated: list[_Rated], number: int) -> list[_Rated]:
    """The best few that differ from each other; of equals, the first."""
    kept: list[_Rated] = []
    for one in sorted(rated, key=lambda one: -round(one[0], 3)):
        if all(one[1] != other[1] or max(one[2].apart(other[2])) > _SIMILAR for other in kept):
            kept.append(one)
        if len(kept) == number:
            break
    return kept
