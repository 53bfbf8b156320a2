"""The frame that all charts share. Colours are CSS variables: the page turns them into those of its theme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["LANE_AXIS", "limit_line", "panel", "step_line"]

LANE_AXIS = "y2"
"""Axis of the lane beneath a panel that shows results without a value."""

_AXIS: dict[str, Any] = {
    "gridcolor": "var(--grid)",
    "linecolor": "var(--line)",
    "tickcolor": "var(--line)",
    "zeroline": False,
    "automargin": True,
}


def panel(last_turn: float, *, lane: bool) -> go.Figure:
    """An empty panel over turns 0..`last_turn`; with `lane`, a strip beneath for results that have no value."""
    import plotly.graph_objects as go

    axis = dict(_AXIS)
    layout: dict[str, Any] = {
        "template": "none",
        "height": 264,
        "margin": {"l": 12, "r": 14, "t": 10, "b": 36},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var(--soft)", "size": 12, "family": "system-ui, sans-serif"},
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "var(--raised)", "bordercolor": "var(--line)", "font": {"color": "var(--ink)"}},
        "xaxis": {**axis, "title": {"text": "turn", "standoff": 4}, "ticks": "outside", "showgrid": False,
                  "range": [-0.03 * last_turn - 0.5, last_turn * 1.03 + 0.5], "anchor": "y2" if lane else "y"},
        "yaxis": {**axis, "domain": [0.2, 1] if lane else [0, 1], "nticks": 6},
    }  # fmt: skip
    if lane:
        layout["yaxis2"] = {
            **axis, "domain": [0, 0.1], "range": [-1, 1], "tickvals": [0], "ticktext": ["no value"],
            "showgrid": False, "fixedrange": True,
        }  # fmt: skip
        layout["shapes"] = [
            {"type": "rect", "xref": "paper", "yref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0.1,
             "fillcolor": "var(--lane)", "line": {"width": 0}, "layer": "below"}
        ]  # fmt: skip
    return go.Figure(layout=layout)


def step_line(turns: Sequence[int], values: Sequence[float | None], colour: str, **more: Any) -> go.Scatter:
    """A line that stays level between turns and breaks where there is no value."""
    import plotly.graph_objects as go

    line = {"color": colour, "width": 1.5, "shape": "hv", **more.pop("line", {})}
    return go.Scatter(
        x=list(turns), y=list(values), mode="lines", line=line, connectgaps=False, hoverinfo="skip", **more
    )


def limit_line(figure: go.Figure, points: Sequence[tuple[float, float]], text: str) -> None:
    """A dashed threshold through `points`, named at its right end."""
    import plotly.graph_objects as go

    # hvh: each turn's value reaches half-way to its neighbours, so a single turn's threshold still has a length.
    spread = [(points[0][0] - 0.5, points[0][1]), *points, (points[-1][0] + 0.5, points[-1][1])]
    figure.add_trace(
        go.Scatter(
            x=[x for x, _ in spread], y=[y for _, y in spread], mode="lines", name=text, hoverinfo="skip",
            line={"color": "var(--ink)", "width": 1.2, "dash": "dash", "shape": "hvh"},
        )
    )  # fmt: skip
    figure.add_annotation(
        x=1, xref="paper", xanchor="right", y=points[-1][1], yanchor="bottom", text=text, showarrow=False,
        font={"size": 11, "color": "var(--ink)"}, bgcolor="var(--paper)", opacity=0.9, borderpad=1,
    )  # fmt: skip
