"""One resolution at which a candidate is laid on its reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from turngate.evaluators._register_view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Level", "level", "reduced"]

_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_LEVELS = 2.0
"""Added to the local contrast, in grey levels: less than this is no structure."""
_BLUR = 1.0
"""Low pass before images are correlated, in pixels: resampling smooths noise, which must not pass for a better fit."""
_WINDOW = 5
"""Side of the Gaussian window that OpenCV smooths both images with before it refines, in pixels."""
_FEWEST = 64
"""Pixels in common below which a correlation says nothing."""


@dataclass(frozen=True)
class Level:
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


def level(reference: NDArray[np.uint8], candidate: NDArray[np.uint8], side: int, radius: float) -> Level:
    """Both H x W x 3 images at a longer side of at most `side` pixels; `radius` is the local window's sigma there."""
    import cv2

    small = reduced(reference, side)
    images = (small, _resized(candidate, (small.shape[1], small.shape[0])))
    first, second = (_local_contrast(image @ _LUMA, radius) for image in images)
    smooth = [np.asarray(cv2.GaussianBlur(image, (0, 0), _BLUR), np.float32) for image in (first, second)]
    return Level(first, second, smooth[0], smooth[1])


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
