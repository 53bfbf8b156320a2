"""The frame that all charts share. Colours are CSS variables: the page turns them into those of its theme."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from turngate.component import Direction

__all__ = [
    "LANE_AXIS",
    "SHARE",
    "Figure",
    "Panel",
    "limit_line",
    "panel",
    "plane",
    "step_line",
]

LANE_AXIS = "y2"
"""Axis of the lane beneath a panel that shows results without a value."""

SHARE = (-0.04, 1.06)
"""Range of an axis of shares, 0 to 100 %."""

_AXIS: dict[str, Any] = {
    "gridcolor": "var(--grid)",
    "linecolor": "var(--line)",
    "tickcolor": "var(--line)",
    "zeroline": False,
    "automargin": True,
}


@dataclass
class Figure:
    """Traces and layout as Plotly.js reads them."""

    layout: dict[str, Any]
    data: list[dict[str, Any]] = field(default_factory=list)

    def add(self, **trace: Any) -> None:
        """One more trace of points or lines."""
        self.data.append({"type": "scatter", **trace})

    def json(self) -> str:
        """The whole figure; a number that is not finite raises `ValueError`."""
        return json.dumps({"data": self.data, "layout": self.layout}, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True)
class Panel:
    """A chart with the words beside it."""

    title: str
    direction: Direction | None
    """Which way is better; None where neither is."""
    figure: str
    """Plotly figure as JSON."""
    summary: str
    """What the curve shows, for those who cannot see it."""
    note: str = ""
    """What lies outside of the chart."""


def panel(last_turn: float, *, lane: bool, y: str = "", y_range: tuple[float, float] | None = None) -> Figure:
    """An empty panel over turns 0..`last_turn`; with `lane`, a strip beneath for results that have no value."""
    figure = plane("turn", y, [-0.03 * last_turn - 0.5, last_turn * 1.03 + 0.5], y_range)
    figure.layout["xaxis"] |= {"showgrid": False, "anchor": "y2" if lane else "y"}
    if lane:
        figure.layout["yaxis"]["domain"] = [0.2, 1]
        figure.layout["yaxis2"] = {
            **_AXIS, "domain": [0, 0.1], "range": [-1, 1], "tickvals": [0], "ticktext": ["no value"],
            "showgrid": False, "fixedrange": True,
        }  # fmt: skip
        figure.layout["shapes"] = [
            {"type": "rect", "xref": "paper", "yref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0.1,
             "fillcolor": "var(--lane)", "line": {"width": 0}, "layer": "below"}
        ]  # fmt: skip
    return figure


def plane(x: str, y: str, x_range: Sequence[float] | None = None, y_range: tuple[float, float] | None = None) -> Figure:
    """An empty panel of two quantities, named at the axes; `y_range` is one of shares."""
    across: dict[str, Any] = {**_AXIS, "title": {"text": x, "standoff": 4}, "ticks": "outside"}
    up: dict[str, Any] = {**_AXIS, "domain": [0, 1], "nticks": 6}
    if y:
        up["title"] = {"text": y, "standoff": 6}
    if x_range is not None:
        across["range"] = list(x_range)
    if y_range is not None:
        up["range"] = list(y_range)
        up["tickformat"] = ".0%"
    return Figure(
        {
            "height": 264,
            "margin": {"l": 12, "r": 14, "t": 10, "b": 36},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": "var(--soft)", "size": 12, "family": "system-ui, sans-serif"},
            "showlegend": False,
            "hovermode": "closest",
            "hoverlabel": {"bgcolor": "var(--raised)", "bordercolor": "var(--line)", "font": {"color": "var(--ink)"}},
            "xaxis": across,
            "yaxis": up,
        }
    )


def step_line(figure: Figure, turns: Sequence[int], values: Sequence[float | None], colour: str) -> None:
    """A line that stays level between turns and breaks where there is no value."""
    line = {"color": colour, "width": 1.5, "shape": "hv"}
    figure.add(x=list(turns), y=list(values), mode="lines", line=line, connectgaps=False, hoverinfo="skip")


def limit_line(figure: Figure, points: Sequence[tuple[float, float]], text: str) -> None:
    """A dashed threshold through `points`, named at its right end."""
    # hvh: each turn's value reaches half-way to its neighbours, so a single turn's threshold still has a length.
    spread = [(points[0][0] - 0.5, points[0][1]), *points, (points[-1][0] + 0.5, points[-1][1])]
    figure.add(
        x=[x for x, _ in spread], y=[y for _, y in spread], mode="lines", name=text, hoverinfo="skip",
        line={"color": "var(--ink)", "width": 1.2, "dash": "dash", "shape": "hvh"},
    )  # fmt: skip
    figure.layout.setdefault("annotations", []).append(
        {"x": 1, "xref": "paper", "xanchor": "right", "y": points[-1][1], "yanchor": "bottom", "text": text,
         "showarrow": False, "font": {"size": 11, "color": "var(--ink)"}, "bgcolor": "var(--paper)", "opacity": 0.9,
         "borderpad": 1}
    )  # fmt: skip
