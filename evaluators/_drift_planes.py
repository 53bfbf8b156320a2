"""One image as the planes that drift reads: luma, its contours' band, and where contours are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Planes", "beside_contours", "planes"]

_CONTOUR = 15.0
"""Slope of a contour, grey levels per pixel after smoothing by one pixel."""
_NEAR, _FAR = 2, 7
"""Pixels from a contour between which halos and wrinkles are looked for."""


@dataclass(frozen=True, eq=False)
class Planes:
    """H x W each, grey levels of 0..255, BT.601."""

    rgb: NDArray[np.uint8]
    luma: NDArray[np.float32]
    band: NDArray[np.float32]
    """Luma between Gaussians of 1 and 3 pixels: where halos and wrinkles live, and noise and slopes do not."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.luma.shape
        return height, width


def planes(rgb: NDArray[np.uint8]) -> Planes:
    """The planes of H x W x 3 8-bit pixels."""
    import cv2

    luma = cv2.transform(rgb.astype(np.float32), np.array([[0.299, 0.587, 0.114]], dtype=np.float32))
    band = cv2.GaussianBlur(luma, (0, 0), 1.0) - cv2.GaussianBlur(luma, (0, 0), 3.0)
    return Planes(rgb, luma.astype(np.float32), band.astype(np.float32))


def beside_contours(luma: NDArray[np.float32]) -> NDArray[np.bool_]:
    """H x W: 3 to 7 pixels from a strong contour."""
    import cv2

    soft = cv2.GaussianBlur(luma, (0, 0), 1.0)
    # Sobel's weights add up to 8 per grey level and pixel.
    slope = cv2.magnitude(cv2.Sobel(soft, cv2.CV_32F, 1, 0), cv2.Sobel(soft, cv2.CV_32F, 0, 1)) / 8
    contour = (slope > _CONTOUR).astype(np.uint8)
    near, far = (cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * r + 1, 2 * r + 1)) for r in (_NEAR, _FAR))
    return np.asarray(cv2.dilate(contour, far) > cv2.dilate(contour, near))
