"""Every arm on the plane of the two axes: damage exposure across, sound progress up."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from turngate.pages.report.charts.figure import Figure, Panel, plane
from turngate.pages.report.charts.series_style import Arm
from turngate.pages.report.page import visible
from turngate.traces.analysis.statistics import Estimate

__all__ = ["equal_calls_panel", "plane_panel"]

_HEIGHT = 348
"""Pixels; the plane and the strip of pictures fit on one screen of 900."""
_NEAR = 4.0
"""Points that are nearer than this across, in percent points, and `_LINE` up, share one label."""
_LINE = 8.0
"""Height of a line of a label, in percent of the highest point."""
_NAMED = 8
"""Most arms whose names are written on the plane; more have the list beside it."""
_CORNERS = (
    ("catches and goes on", 0.01, 0.99, "left", "top"),
    ("stalls", 0.01, 0.01, "left", "bottom"),
    ("propagates", 0.99, 0.01, "right", "bottom"),
)


def plane_panel(arms: Sequence[Arm]) -> Panel | None:
    """Over the planned turns; None when no arm has a truth."""
    points = [(arm, arm.answer.exposure, arm.answer.progress) for arm in arms]
    return _panel("Sound progress against damage exposure", points, "planned turns")


def equal_calls_panel(arms: Sequence[Arm]) -> Panel | None:
    """The same over as many editor calls as turns were planned; None where every arm calls once a turn."""
    points = [(arm, arm.answer.equal_calls_exposure, arm.answer.equal_calls_progress) for arm in arms]
    if all((across, up) == (arm.answer.exposure, arm.answer.progress) for arm, across, up in points):
        return None
    return _panel("The same at equal numbers of editor calls", points, "editor calls")


def _panel(title: str, points: Sequence[tuple[Arm, Estimate, Estimate]], per: str) -> Panel | None:
    known = [(arm, across, up) for arm, across, up in points if across.value is not None and up.value is not None]
    if not known:
        return None
    figure = plane(f"damage exposure, % of {per} after which a damaged image stands", f"new sound images per 100 {per}")
    top = max(20.0, *(up.high if up.high is not None else up.value or 0.0 for _, _, up in known))
    figure.layout["xaxis"] |= {"range": [-6, 106], "tickvals": [0, 25, 50, 75, 100], "ticksuffix": " %"}
    figure.layout["yaxis"] |= {"range": [-0.1 * top, 1.3 * top]}
    figure.layout["height"] = _HEIGHT
    figure.layout["annotations"] = [_corner(*corner) for corner in _CORNERS]
    places: list[tuple[float, float, list[Arm]]] = []
    for arm, across, up in known:
        x, y = 100 * (across.value or 0.0), up.value or 0.0
        place = next((one for one in places if abs(one[0] - x) < _NEAR and abs(one[1] - y) < _LINE * top / 100), None)
        if place is None:
            places.append(place := (x, y, []))
        # Points of one place stand side by side; what is hovered says the number.
        _add(figure, arm, across, up, x + 2.2 * len(place[2]) * (-1 if x > 50 else 1), y)
        place[2].append(arm)
    if len(known) <= _NAMED:
        figure.layout["annotations"] += [_label(x, y, members) for x, y, members in places]
    words = "; ".join(f"{arm.name}: {_words(across, 100.0)} % exposed, {_words(up)} sound images per 100 {per}"
                      for arm, across, up in known)  # fmt: skip
    return Panel(title, None, figure.json(), words)


def _add(figure: Figure, arm: Arm, across: Estimate, up: Estimate, x: float, y: float) -> None:
    name = escape(visible(arm.name))
    marker = arm.style.marker(12)
    if arm.answer.control:
        symbol = marker["symbol"]
        marker |= {"symbol": f"{symbol}-open", "line": {"width": 2, "color": arm.style.colour}}
    more: dict[str, Any] = {}
    for axis, estimate, scale, centre in (("error_x", across, 100.0, x), ("error_y", up, 1.0, y)):
        if estimate.low is not None and estimate.high is not None:
            more[axis] = {
                "type": "data", "symmetric": False, "array": [max(0.0, estimate.high * scale - centre)],
                "arrayminus": [max(0.0, centre - estimate.low * scale)], "color": arm.style.pale(0.45), "thickness": 1,
                "width": 0,
            }  # fmt: skip
    figure.add(
        x=[x], y=[y], mode="markers", name=name, legendgroup=arm.style.group, marker=marker, cliponaxis=False, **more,
        hovertemplate=f"{name}<br>exposure {_words(across, 100.0)} %<br>progress {_words(up)} per 100<extra></extra>",
    )  # fmt: skip


def _words(estimate: Estimate, scale: float = 1.0) -> str:
    text = f"{(estimate.value or 0.0) * scale:.3g}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} [{estimate.low * scale:.3g}, {estimate.high * scale:.3g}]"


def _corner(text: str, x: float, y: float, across: str, up: str) -> dict[str, Any]:
    return {
        "text": text, "x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": across, "yanchor": up,
        "showarrow": False, "font": {"size": 13, "color": "var(--line)"},
    }  # fmt: skip


def _label(x: float, y: float, members: Sequence[Arm]) -> dict[str, Any]:
    right = x > 50
    return {
        "text": "<br>".join(escape(visible(arm.name)) for arm in members), "x": x, "y": y, "showarrow": False,
        "xanchor": "right" if right else "left", "yanchor": "middle", "align": "right" if right else "left",
        "xshift": (-1 if right else 1) * (2 + 12 * len(members)), "font": {"size": 12, "color": "var(--ink)"},
    }  # fmt: skip
