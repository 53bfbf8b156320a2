"""Names beside points that do not lie on each other, on a point or on what else is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING, Any

from turngate.pages.plots._style import INK, TEXT, line_height, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LabelBox", "gathered", "place_labels"]

_RADIUS = 3.2 / 72
"""Of a point, in inches."""
_GAP = 1.5 / 72
_RINGS = (0.075, 0.12, 0.18, 0.26, 0.36, 0.5, 0.66, 0.85)
"""Distances from a point that are tried, in inches; from the second on a thin line leads to the point."""
_ANGLES = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8)
"""Directions that are tried, in sixteenths of a turn: to the right first."""


@dataclass(frozen=True)
class LabelBox:
    """A rectangle on the sheet, in inches."""

    x0: float
    y0: float
    x1: float
    y1: float

    def meets(self, other: LabelBox) -> bool:
        """They overlap."""
        return min(self.x1, other.x1) > max(self.x0, other.x0) and min(self.y1, other.y1) > max(self.y0, other.y0)

    def within(self, other: LabelBox) -> bool:
        """It lies in the other one."""
        return self.x0 >= other.x0 and self.y0 >= other.y0 and self.x1 <= other.x1 and self.y1 <= other.y1

    def crossed(self, start: tuple[float, float], end: tuple[float, float]) -> bool:
        """The line from `start` to `end` runs through it; looked at every hundredth of an inch."""
        steps = max(2, int(100 * hypot(end[0] - start[0], end[1] - start[1])))
        points = ((start[i] + (end[i] - start[i]) * n / steps for i in (0, 1)) for n in range(steps + 1))
        return any(self.x0 < x < self.x1 and self.y0 < y < self.y1 for x, y in points)


def gathered(places: Sequence[tuple[float, float]], near: float = 0.045) -> list[list[int]]:
    """Numbers of the places that lie on one spot: each at most `near` inches from another one of its group."""
    groups: list[list[int]] = []
    for number, (x, y) in enumerate(places):
        close = [group for group in groups if any(hypot(places[n][0] - x, places[n][1] - y) <= near for n in group)]
        groups = [group for group in groups if group not in close]
        groups.append(sorted([number, *(n for group in close for n in group)]))
    return sorted(groups)


def place_labels(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    taken: Sequence[LabelBox] = (),
    clear_of: Sequence[tuple[tuple[float, float], tuple[float, float]]] = (),
) -> bool:
    """Write each text beside its point, in the axes' own units; False, with nothing written, when one finds no room.

    The layout of the figure must be settled. `taken` are rectangles that stay free; no text lies across the lines
    `clear_of`, in the axes' units as well.
    """
    figure = axes.figure
    dpi = float(figure.dpi)
    edges = axes.get_window_extent()
    room = LabelBox(*(float(number) / dpi for number in (edges.x0, edges.y0, edges.x1, edges.y1)))
    spots = [(float(x) / dpi, float(y) / dpi) for x, y in axes.transData.transform(list(points))]
    marks = [LabelBox(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS) for x, y in spots]
    boxes: list[LabelBox] = []
    lines = [_in_inches(axes, line) for line in clear_of]
    # Where it is narrow goes first.
    order = sorted(range(len(spots)), key=lambda n: (-_neighbours(spots, n), -texts[n].count("\n"), n))
    found: dict[int, tuple[LabelBox, int]] = {}
    for number in order:
        obstacles = [*marks, *taken, *boxes]
        for box, ring in _candidates(spots[number], texts[number]):
            line = (spots[number], _nearest(box, spots[number]))
            if not box.within(room) or any(box.meets(other) for other in obstacles):
                continue
            others = [mark for place, mark in enumerate(marks) if place != number]
            clear = not any(other.crossed(*line) for other in (*boxes, *others))
            if clear and not any(box.crossed(*other) for other in lines):
                found[number] = (box, ring)
                boxes.append(box)
                lines.append(line)
                break
        else:
            return False
    for number, (box, ring) in sorted(found.items()):
        _write(axes, spots[number], box, texts[number], lined=ring > 0)
    return True


def _in_inches(axes: Axes, line: tuple[tuple[float, float], tuple[float, float]]) -> tuple[Any, Any]:
    ends = axes.transData.transform(list(line)) / float(axes.figure.dpi)
    return (float(ends[0][0]), float(ends[0][1])), (float(ends[1][0]), float(ends[1][1]))


def _neighbours(spots: Sequence[tuple[float, float]], number: int) -> int:
    x, y = spots[number]
    return sum(hypot(x - other, y - high) < 0.5 for other, high in spots)


def _candidates(spot: tuple[float, float], text: str) -> Iterator[tuple[LabelBox, int]]:
    """Boxes around the spot, the nearest ring first."""
    rows = text.split("\n")
    wide = max(width_of(row) for row in rows) + 2 * _GAP
    high = len(rows) * line_height() + _GAP
    for ring, distance in enumerate(_RINGS):
        for angle in _ANGLES:
            across, up = cos(angle * pi / 8), sin(angle * pi / 8)
            # The box touches the ring with the side or corner that faces the spot.
            x = spot[0] + distance * across - (wide / 2) * (1 - across)
            y = spot[1] + distance * up - (high / 2) * (1 - up)
            yield LabelBox(x, y, x + wide, y + high), ring


def _nearest(box: LabelBox, spot: tuple[float, float]) -> tuple[float, float]:
    return min(max(spot[0], box.x0), box.x1), min(max(spot[1], box.y0), box.y1)


def _write(axes: Axes, spot: tuple[float, float], box: LabelBox, text: str, lined: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Affine2D

    figure = axes.figure
    inches = Affine2D().scale(float(figure.dpi))
    if lined:
        end = _nearest(box, spot)
        line = Line2D([spot[0], end[0]], [spot[1], end[1]], color=INK, lw=0.4, transform=inches, zorder=2.5)
        line.set_in_layout(False)
        axes.add_artist(line)
    wording = axes.text(
        box.x0 + _GAP, (box.y0 + box.y1) / 2, text, fontsize=TEXT, va="center", ha="left", transform=inches, zorder=4
    )
    wording.set_in_layout(False)
