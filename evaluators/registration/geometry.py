"""What the geometry of a candidate has become: crop, shift, stretch, mirroring and rotation, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GRID", "ORIENTATIONS", "SAME", "UPRIGHT", "Geometry", "Orientation", "Refused", "View"]


GRID = 256
"""Steps per pixel of the candidate on which a fit's edges lie."""

# How a candidate's frame lies on its reference's: mirrored or turned, and which part of it the frame shows.


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

    def snapped(self, width: int, height: int) -> View:
        """The view whose edges lie on the nearest multiples of 1 / `GRID` pixel of a width x height candidate.

        The search leaves rounding noise (1e-6 pixels at the median, 1e-4 at most between processors), and this is what
        takes it away before anything is resampled.
        """
        ends = []
        for scale, offset, side in ((self.scale_x, self.offset_x, width), (self.scale_y, self.offset_y, height)):
            begin, end = (round(at * side * GRID) for at in (offset, scale + offset))
            ends.append(((end - begin) / (GRID * side), begin / (GRID * side)))
        (scale_x, offset_x), (scale_y, offset_y) = ends
        return View(scale_x, scale_y, offset_x, offset_y)

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


Refused = Literal["flat", "too_small", "no_match"]

_LEAST_CROP = 0.05
"""Per cent: less is not worth a flag."""
_UNCERTAIN = 1.0
"""Pixels of the candidate between the fits of its parts from which a flag says so."""
_LEAST_TILT = 0.2
"""Degrees: estimates on untilted images, worn ones among them, stay below 0.1."""


@dataclass(frozen=True)
class Geometry:
    """Where a candidate lies on its reference."""

    reference: tuple[int, int]
    """Width and height, pixels."""
    candidate: tuple[int, int]
    """Width and height of the upright candidate, pixels."""
    confidence: float
    """Correlation of local contrast over what both show, at most 512 pixels a side, 0 to 1."""
    refused: Refused | None = None
    """Why the fit is not trusted; then the view is the whole frame."""
    orientation: Orientation = UPRIGHT
    """How the candidate was mirrored and turned."""
    view: View = SAME
    """What it shows of the reference after that is undone."""
    uncertainty: float = 0.0
    """How far apart the fits of complementary parts of the candidate lie at its edges, in its pixels."""
    tilt: float = 0.0
    """Degrees clockwise by which it is turned besides; measured, never undone."""

    @property
    def scales(self) -> tuple[float, float]:
        """Candidate pixels per reference pixel, across and down."""
        return (
            self.view.scale_x * self.candidate[0] / self.reference[0],
            self.view.scale_y * self.candidate[1] / self.reference[1],
        )

    @property
    def displacement(self) -> float:
        """Mean distance between where the reference's four corners were and where they are, % of its diagonal.

        The candidate is drawn centred on the reference, at the reference's area, as it came (mirrored, turned).
        """
        (width, height), (there_x, there_y) = self.reference, self.candidate
        drawn = sqrt(width * height / (there_x * there_y))
        total = 0.0
        for u, v in ((0, 0), (1, 0), (0, 1), (1, 1)):
            x = (self.view.scale_x * u + self.view.offset_x - 0.5) * there_x * drawn
            y = (self.view.scale_y * v + self.view.offset_y - 0.5) * there_y * drawn
            if self.orientation.mirrored:
                x = -x
            for _ in range(self.orientation.quarters):
                x, y = -y, x
            total += hypot(x - (u - 0.5) * width, y - (v - 0.5) * height)
        return 100 * total / 4 / hypot(width, height)

    def components(self) -> dict[str, float]:
        """The numbers, for a score's components; only the confidence where the fit is not trusted.

        `crop_x`, `crop_y`: % of the reference's width and height that do not fit into the candidate's frame, negative
        where it shows more. `shift_x`, `shift_y`: reference pixels to move the candidate's middle by, right and down.
        `stretch`: % by which things became wider against their height. `overlap`: % of the reference's area that is
        seen. `mirrored`: 0 or 1. `rotation`: degrees clockwise, 0, 90, 180 or 270, after the mirroring. `uncertainty`:
        candidate pixels between the fits of its parts.
        """
        if self.refused:
            return {"confidence": self.confidence}
        view, (across, down) = self.view, self.scales
        return {
            "crop_x": 100 * (1 - 1 / view.scale_x),
            "crop_y": 100 * (1 - 1 / view.scale_y),
            "shift_x": ((0.5 - view.offset_x) / view.scale_x - 0.5) * self.reference[0],
            "shift_y": ((0.5 - view.offset_y) / view.scale_y - 0.5) * self.reference[1],
            "stretch": 100 * (across / down - 1),
            "overlap": 100 * view.overlap(),
            "mirrored": float(self.orientation.mirrored),
            "rotation": 90.0 * self.orientation.quarters,
            "tilt": self.tilt,
            "confidence": self.confidence,
            "uncertainty": self.uncertainty,
        }

    def flags(self) -> tuple[str, ...]:
        """The same in words, only what differs from the reference."""
        flags = []
        if self.candidate != self.reference:
            flags.append("size:{}x{}/{}x{}".format(*self.candidate, *self.reference))
        if self.refused:
            return (*flags, f"unregistered:{self.refused}")
        if self.orientation.mirrored:
            flags.append("mirrored")
        if self.orientation.quarters:
            flags.append(f"rotated:{90 * self.orientation.quarters}")
        numbers = self.components()
        if max(abs(numbers["crop_x"]), abs(numbers["crop_y"])) >= _LEAST_CROP:
            flags.append(f"cropped:{_signed(numbers['crop_x'], 2)}%,{_signed(numbers['crop_y'], 2)}%")
        if max(abs(numbers["shift_x"]), abs(numbers["shift_y"])) >= 0.05:
            flags.append(f"shifted:{_signed(numbers['shift_x'], 1)},{_signed(numbers['shift_y'], 1)}")
        if self.uncertainty >= _UNCERTAIN:
            flags.append(f"uncertain:{self.uncertainty:.0f}px")
        if abs(self.tilt) >= _LEAST_TILT:
            flags.append(f"tilted:{self.tilt:+.1f}")
        return tuple(flags)


def _signed(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:+.{digits}f}"  # no "-0.0"
