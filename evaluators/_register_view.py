"""How a candidate's frame lies on its reference's: mirrored or turned, and which part of it the frame shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ORIENTATIONS", "SAME", "UPRIGHT", "Orientation", "View"]


@dataclass(frozen=True)
class Orientation:
    """One of the eight ways to lay a picture down: mirrored left to right or not, then turned by quarters."""

    mirrored: bool = False
    quarters: int = 0
    """Quarter turns clockwise, 0 to 3, after the mirroring."""

    def undo(self, rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The picture as it was before it was mirrored and turned; a view, no pixel is computed."""
        turned = np.rot90(rgb, self.quarters)  # counter-clockwise
        return turned[:, ::-1] if self.mirrored else turned


UPRIGHT = Orientation()
ORIENTATIONS = tuple(Orientation(mirrored, quarters) for mirrored in (False, True) for quarters in range(4))


@dataclass(frozen=True)
class View:
    """The part of a reference that an upright candidate shows, in shares of each frame (0 to 1 from edge to edge).

    What is at `u` of the reference is at `scale * u + offset` of the candidate, along each axis by itself: a scale
    above 1 is a crop, below 1 the candidate shows more than the reference.
    """

    scale_x: float = 1.0
    scale_y: float = 1.0
    offset_x: float = 0.0
    offset_y: float = 0.0

    @classmethod
    def centred(cls, scale_x: float, scale_y: float) -> View:
        """The view of these scales that shows the middle."""
        return cls(scale_x, scale_y, (1 - scale_x) / 2, (1 - scale_y) / 2)

    @classmethod
    def from_matrix(cls, matrix: NDArray[np.float32], width: int, height: int) -> View:
        """The view nearest to a 2 x 3 affine matrix between pixel centres of two width x height grids."""
        affine = matrix.astype(np.float64)
        middle_x, middle_y = affine[:, :2] @ [(width - 1) / 2, (height - 1) / 2] + affine[:, 2]
        scale_x, scale_y = float(affine[0, 0]), float(affine[1, 1])
        return cls(
            scale_x,
            scale_y,
            float((middle_x + 0.5) / width - scale_x / 2),
            float((middle_y + 0.5) / height - scale_y / 2),
        )

    def matrix(self, width: int, height: int) -> NDArray[np.float32]:
        """2 x 3 affine matrix from reference to candidate between pixel centres of two width x height grids."""
        return np.array(
            [
                [self.scale_x, 0, (self.scale_x - 1) / 2 + self.offset_x * width],
                [0, self.scale_y, (self.scale_y - 1) / 2 + self.offset_y * height],
            ],
            dtype=np.float32,
        )

    def moved(self, right: float, down: float) -> View:
        """The view after the candidate's content went right and down by these shares of its frame."""
        return View(self.scale_x, self.scale_y, self.offset_x + right, self.offset_y + down)

    def seen(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the part of the reference that is seen, in shares of its frame."""
        left, right = _interval(self.scale_x, self.offset_x)
        top, bottom = _interval(self.scale_y, self.offset_y)
        return left, top, right, bottom

    def overlap(self) -> float:
        """Share of the reference's area that is seen, 0 to 1."""
        left, top, right, bottom = self.seen()
        return max(0.0, right - left) * max(0.0, bottom - top)

    def apart(self, other: View) -> tuple[float, float]:
        """Largest distance at an edge between two views, in shares of the candidate's width and height."""
        sides = [
            (self.scale_x - other.scale_x, self.offset_x - other.offset_x),
            (self.scale_y - other.scale_y, self.offset_y - other.offset_y),
        ]
        across, down = (max(abs(offset), abs(scale + offset)) for scale, offset in sides)
        return across, down


SAME = View()


def _interval(scale: float, offset: float) -> tuple[float, float]:
    return max(0.0, -offset / scale), min(1.0, (1 - offset) / scale)
