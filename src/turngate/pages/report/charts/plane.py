"""Every arm on the plane of the two axes: damage exposure across, sound progress up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import hypot
from typing import Any

from turngate.pages.report.charts.figure import Figure, Panel, plane
from turngate.pages.report.charts.series_style import Arm
from turngate.pages.report.page import visible
from turngate.traces.analysis.statistics import Estimate

__all__ = ["equal_calls_panel", "plane_panel"]

_HEIGHT = 348
"""Pixels; the plane and the strip of pictures fit on one screen of 900."""
_NAMED = 8
"""Most arms whose names are written on the plane; of more the numbers, which the list beside it has too."""
_LEFT, _RIGHT = -6.0, 106.0
_LOW, _HIGH = -0.14, 1.3
"""Ends of the axis of progress, in shares of the highest point: room for the words of the corners."""
_WIDTHS, _TALL = (560.0, 285.0), 300.0
"""Pixels inside the axes, on a wide screen and on one of 390: labels are placed so that they are free on both."""
_SAME = 13.0
"""Points nearer than this, in pixels, share one label."""
_ROW, _LETTER = 15.0, 6.8
_CORNERS = (
    ("catches and goes on", 0.01, 0.99, "left", "top"),
    ("stalls", 0.1, 0.01, "left", "bottom"),
    ("propagates", 0.99, 0.01, "right", "bottom"),
)


def plane_panel(arms: Sequence[Arm], unbeaten: Sequence[str] = ()) -> Panel | None:
    """Over the planned turns; None when no arm has a truth. The arms in `unbeaten` are named on it."""
    points = [(arm, arm.answer.exposure, arm.answer.progress) for arm in arms]
    return _panel("Sound progress against damage exposure", points, "planned turns", unbeaten)


def equal_calls_panel(arms: Sequence[Arm]) -> Panel | None:
    """The same over as many editor calls as turns were planned; None where that changes no arm."""
    points = [(arm, arm.answer.equal_calls_exposure, arm.answer.equal_calls_progress) for arm in arms]
    if all((across, up) == (arm.answer.exposure, arm.answer.progress) for arm, across, up in points):
        return None
    return _panel("The same at equal numbers of editor calls", points, "editor calls", ())


def _panel(
    title: str, points: Sequence[tuple[Arm, Estimate, Estimate]], per: str, unbeaten: Sequence[str]
) -> Panel | None:
    known = [(arm, across, up) for arm, across, up in points if across.value is not None and up.value is not None]
    if not known:
        return None
    figure = plane(f"damage exposure, % of {per}", f"new sound images per 100 {per}")
    top = max(10.0, *(up.high if up.high is not None else up.value or 0.0 for _, _, up in known))
    figure.layout["xaxis"] |= {"range": [_LEFT, _RIGHT], "tickvals": [0, 25, 50, 75, 100], "ticksuffix": " %"}
    figure.layout["yaxis"] |= {"range": [_LOW * top, _HIGH * top]}
    figure.layout["height"] = _HEIGHT
    # Rings of controls first: where an own arm lies on one, both are seen.
    for arm, across, up in sorted(known, key=lambda point: not point[0].answer.control):
        _add(figure, arm, across, up)
    places = [(100 * (across.value or 0.0), (up.value or 0.0) / top) for _, across, up in known]
    named = len(points) <= _NAMED
    labels = [
        _Label(_words_of([known[number][0] for number in group], named, unbeaten), [places[number] for number in group])
        for group in _gathered([_spot(place, _WIDTHS[0]) for place in places])
    ]
    figure.layout["annotations"] = [_corner(*corner) for corner in _CORNERS] + _placed(labels, places, top)
    words = "; ".join(
        f"{arm.name}: {_words(across, 100.0)} % exposed, {_words(up)} sound images per 100 {per}"
        for arm, across, up in known
    )
    return Panel(title, None, figure.json(), words)


def _add(figure: Figure, arm: Arm, across: Estimate, up: Estimate) -> None:
    name = escape(visible(arm.name))
    marker = arm.style.marker(12)
    if arm.answer.control:
        marker |= {"symbol": f"{marker['symbol']}-open", "size": 16, "line": {"width": 2, "color": arm.style.colour}}
    more: dict[str, Any] = {}
    for axis, estimate, scale in (("error_x", across, 100.0), ("error_y", up, 1.0)):
        if estimate.value is not None and estimate.low is not None and estimate.high is not None:
            more[axis] = {
                "type": "data", "symmetric": False, "array": [(estimate.high - estimate.value) * scale],
                "arrayminus": [(estimate.value - estimate.low) * scale], "color": arm.style.pale(0.45),
                "thickness": 1, "width": 0,
            }  # fmt: skip
    figure.add(
        x=[100 * (across.value or 0.0)], y=[up.value or 0.0], mode="markers", name=name, legendgroup=arm.style.group,
        marker=marker, cliponaxis=False, **more,
        hovertemplate=f"{arm.number} {name}<br>exposure {_words(across, 100.0)} %<br>"
        f"progress {_words(up)} per 100<extra></extra>",
    )  # fmt: skip


def _words(estimate: Estimate, scale: float = 1.0) -> str:
    text = f"{(estimate.value or 0.0) * scale:.3g}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} [{estimate.low * scale:.3g}, {estimate.high * scale:.3g}]"


def _corner(text: str, x: float, y: float, across: str, up: str) -> dict[str, Any]:
    return {
        "text": f"<i>{text}</i>", "x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": across, "yanchor": up,
        "showarrow": False, "font": {"size": 13, "color": "var(--soft)"},
    }  # fmt: skip


# Labels beside the points, none on another one. Spots are in pixels, from the upper left corner inside the axes.

_Spot = tuple[float, float]
_Rect = tuple[float, float, float, float]
_SHIFTS = ((13, 0), (12, -15), (12, 15), (22, -30), (22, 30), (34, -48), (34, 48), (60, -66), (60, 66))
"""Distances across and down from a point at which its label is tried."""


@dataclass(frozen=True)
class _Label:
    """What stands beside one point, or beside several that coincide."""

    rows: list[str]
    places: list[_Spot]
    """Exposure in percent, and progress as a share of the highest point."""

    @property
    def size(self) -> _Spot:
        return _LETTER * max(map(len, self.rows)), _ROW * len(self.rows)

    def offers(self) -> list[tuple[str, int, int]]:
        """Side of the text that faces the point, and its shift; the nearest first."""
        # A long name on the right half would leave a narrower screen.
        far = max(x for x, _ in self.places) > 50 and self.size[0] > 80
        sides = ("right", "left") if far else ("left", "right")
        return [(side, across, down) for across, down in _SHIFTS for side in sides]

    def anchor(self, side: str, width: float) -> _Spot:
        """Where the shift begins, on axes of that width: the outermost point on that side."""
        spots = [_spot(place, width) for place in self.places]
        return max(spots) if side == "left" else min(spots)

    def box(self, offer: tuple[str, int, int], width: float) -> _Rect:
        """What the text would cover."""
        side, across, down = offer
        x, y = self.anchor(side, width)
        wide, tall = self.size
        edge = x + across if side == "left" else x - across - wide
        return edge, y + down - tall / 2, edge + wide, y + down + tall / 2


def _spot(place: _Spot, width: float) -> _Spot:
    x, share = place
    return (x - _LEFT) / (_RIGHT - _LEFT) * width, (_HIGH - share) / (_HIGH - _LOW) * _TALL


def _gathered(spots: Sequence[_Spot]) -> list[list[int]]:
    """Numbers of the spots that coincide: each is near another one of its group."""
    groups: list[list[int]] = []
    for number, (x, y) in enumerate(spots):
        near = [group for group in groups if any(hypot(spots[n][0] - x, spots[n][1] - y) < _SAME for n in group)]
        groups = [group for group in groups if group not in near]
        groups.append(sorted([number, *(n for group in near for n in group)]))
    return groups


def _words_of(members: Sequence[Arm], named: bool, unbeaten: Sequence[str]) -> list[str]:
    if named:
        return [_short(arm.name) for arm in members]
    told = [f"{arm.number} {_short(arm.name)}" for arm in members if arm.name in unbeaten]
    others = ", ".join(str(arm.number) for arm in members if arm.name not in unbeaten)
    return [*told, *([others] if others else [])]


def _short(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= 28 else f"{shown[:27]}…"


def _placed(labels: Sequence[_Label], places: Sequence[_Spot], top: float) -> list[dict[str, Any]]:
    """Annotations; one that is free nowhere on all widths takes what is free on the first, else the nearest."""
    taken = {width: _occupied(places, width) for width in _WIDTHS}
    found = []
    for label in labels:
        offers = label.offers()
        free = [[one for one in offers if _free(label.box(one, width), taken[width], width)] for width in _WIDTHS]
        chosen = next((one for one in free[0] if one in free[1]), (free[0] or offers)[0])
        for width in _WIDTHS:
            taken[width].append(label.box(chosen, width))
        found.append(_annotation(label, chosen, top))
    return found


def _occupied(places: Sequence[_Spot], width: float) -> list[_Rect]:
    """Points, and the words of the corners."""
    marks = [(x - 8, y - 8, x + 8, y + 8) for x, y in (_spot(place, width) for place in places)]
    corners = [
        (0, 0, 145, 20),
        (0.1 * width, _TALL - 20, 0.1 * width + 45, _TALL),
        (width - 85, _TALL - 20, width, _TALL),
    ]
    return [*marks, *corners]


def _free(box: _Rect, taken: Sequence[_Rect], width: float) -> bool:
    inside = box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= _TALL
    return inside and not any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken
    )


def _annotation(label: _Label, offer: tuple[str, int, int], top: float) -> dict[str, Any]:
    side, across, down = offer
    x, share = max(label.places) if side == "left" else min(label.places)
    shift = across if side == "left" else -across
    note: dict[str, Any] = {
        "text": "<br>".join(map(escape, label.rows)), "xanchor": side, "yanchor": "middle", "align": side,
        "x": x, "y": share * top, "font": {"size": 12, "color": "var(--ink)"}, "borderpad": 0,
    }  # fmt: skip
    if abs(down) <= _ROW:
        return note | {"showarrow": False, "xshift": shift, "yshift": -down}
    line = {"showarrow": True, "arrowhead": 0, "arrowwidth": 0.8, "arrowcolor": "var(--line)", "standoff": 7}
    return note | line | {"ax": shift, "ay": down}
