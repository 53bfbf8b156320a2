"""What the image of each arm was like after each turn, in one chart."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from turngate.pages.report.charts.figure import (
    LANE_AXIS,
    Direction,
    Figure,
    Panel,
    focus,
    is_infinite,
    limit_line,
    no_values,
    panel,
)
from turngate.pages.report.study.arms import Arm
from turngate.traces.report.curves import Curve, score_curve, truth_curve
from turngate.traces.report.inert import visible

__all__ = ["arms_score_panel", "arms_truth_panel"]


def arms_truth_panel(arms: Sequence[Arm]) -> Panel | None:
    """Truth of the current image after each turn, arm by arm; None when no arm measured it."""
    measured = [arm for arm in arms if any(run.summary.truth is not None for run in arm.runs)]
    if not measured:
        return None
    rows = [stand.truth for arm in measured for run in arm.runs for stand in run.stands if stand.truth is not None]
    limits = sorted({row.damaged_at for row in rows})
    title = f"Truth: {', '.join(sorted({row.measure for row in rows}))}"
    curves = [(arm, truth_curve(arm.runs)) for arm in measured]
    return _panel(title, measured[0].runs[0].truth_direction, curves, limits, infinite=True)


def arms_score_panel(arms: Sequence[Arm], evaluator: str) -> Panel:
    """Score of the current image after each turn, arm by arm, for the arms that have the evaluator."""
    having = [arm for arm in arms if any(evaluator in run.evaluators for run in arm.runs)]
    rows = (stand.scores.get(evaluator) for arm in having for run in arm.runs for stand in run.stands)
    first = next((row for row in rows if row is not None), None)
    direction: Direction = "higher" if first is None else first.direction
    curves = [(arm, score_curve(arm.runs, evaluator)) for arm in having]
    return _panel(evaluator, direction, curves, [], infinite=first is not None and is_infinite(first.type))


def _panel(
    title: str, direction: Direction, curves: list[tuple[Arm, Curve]], limits: list[float], infinite: bool
) -> Panel:
    last = max(1, *(curve.turns[-1] for _, curve in curves))
    figure = panel(last, lane=any(curve.missing for _, curve in curves))
    for arm, curve in curves:
        _add_band(figure, arm, curve)
    for place, (arm, curve) in enumerate(curves):
        name = escape(visible(arm.name))
        figure.add(
            x=curve.turns, y=curve.values, mode="lines+markers", name=name, legendgroup=arm.look.group,
            line=arm.look.line(), marker=arm.look.marker(maxdisplayed=12), connectgaps=False,
            hovertemplate=f"{name}<br>after turn %{{x}}<br>%{{y:.4g}}<extra></extra>",
        )  # fmt: skip
        if curve.missing:
            height = 0.7 - 1.4 * (place + 0.5) / len(curves)
            figure.add(
                x=curve.missing, y=[height] * len(curve.missing), yaxis=LANE_AXIS, mode="markers", name=name,
                legendgroup=arm.look.group,
                marker={
                    "symbol": "x-thin-open", "size": 8, "color": arm.look.colour,
                    "line": {"width": 1.6, "color": arm.look.colour},
                },
                hovertemplate=f"{name}<br>after turn %{{x}}: "
                + ("no value<extra></extra>" if len(arm.runs) == 1 else "a run without a value<extra></extra>"),
            )  # fmt: skip
    for limit in limits:
        limit_line(figure, [(0, limit), (last, limit)], f"damaged at {limit:g}")
    ends = [(arm.name, [number for number in curve.values if number is not None]) for arm, curve in curves]
    edited = [curve for arm, curve in curves if arm.answer.accepted_share.value]
    moved = [number for curve in edited for number in curve.values[1:]]
    every = [number for _, curve in curves for number in curve.values if number is not None]
    note = focus(figure, [number for number in (*moved, *limits) if number is not None], every) if infinite else ""
    if not every:
        no_values(figure)
    words = "; ".join(f"{name} from {known[0]:.4g} to {known[-1]:.4g}" for name, known in ends if known)
    return Panel(title, direction, figure.json(), words or "no values", note)


def _add_band(figure: Figure, arm: Arm, curve: Curve) -> None:
    """The interval over origins, where there is one."""
    spans = [
        (turn, low, high)
        for turn, low, high in zip(curve.turns, curve.low, curve.high, strict=True)
        if low is not None and high is not None
    ]
    if spans:
        figure.add(
            x=[turn for turn, _, _ in spans] + [turn for turn, _, _ in reversed(spans)],
            y=[high for _, _, high in spans] + [low for _, low, _ in reversed(spans)], mode="lines",
            fill="toself", fillcolor=arm.look.pale(0.13), line={"width": 0}, hoverinfo="skip",
            name=f"{escape(visible(arm.name))}, interval", legendgroup=arm.look.group,
        )  # fmt: skip
