"""The curves of several runs in one chart: what the current image of each arm was like after each turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from turngate.traces.report._arms import Arm
from turngate.traces.report._figure import LANE_AXIS, limit_line, panel
from turngate.traces.report._inert import visible
from turngate.traces.report._lineage import Standing
from turngate.traces.report._run_charts import Panel, truth_direction

__all__ = ["arms_score_panel", "arms_truth_panel"]


def arms_truth_panel(arms: Sequence[Arm]) -> Panel | None:
    """Truth of the current image after each turn, arm by arm; None when no arm measured it."""
    measured = [arm for arm in arms if arm.summary.truth is not None]
    if not measured:
        return None
    limits = sorted({stand.truth.damaged_at for arm in measured for stand in arm.stands if stand.truth is not None})
    measures = sorted({stand.truth.measure for arm in measured for stand in arm.stands if stand.truth is not None})
    title = f"Truth: {', '.join(measures)}"
    return _panel(title, truth_direction(measured[0].run), measured, _truth_value, limits)


def arms_score_panel(arms: Sequence[Arm], evaluator: str) -> Panel:
    """Score of the current image after each turn, arm by arm, for the arms that have the evaluator."""
    having = [arm for arm in arms if evaluator in arm.run.info.config["evaluators"]]

    def value(stand: Standing) -> float | None:
        score = stand.scores.get(evaluator)
        return score.value if score is not None and score.status == "scored" else None

    rows = [stand.scores[evaluator] for arm in having for stand in arm.stands if evaluator in stand.scores]
    return _panel(evaluator, rows[0].direction if rows else "higher", having, value, [])


def _panel(
    title: str, direction: str, arms: Sequence[Arm], value: Callable[[Standing], float | None], limits: list[float]
) -> Panel:
    import plotly.graph_objects as go

    curves = [(arm, [(stand.turn, value(stand)) for stand in arm.stands]) for arm in arms]
    last = max(1, *(turn for _, curve in curves for turn, _ in curve))
    missing = any(number is None for _, curve in curves for _, number in curve)
    figure = panel(last, lane=missing)
    for place, (arm, curve) in enumerate(curves):
        name = escape(visible(arm.name))
        marker = {"symbol": arm.look.symbol, "size": 7, "maxdisplayed": 12, "color": arm.look.colour}
        figure.add_trace(
            go.Scatter(
                x=[turn for turn, _ in curve], y=[number for _, number in curve], mode="lines+markers", name=name,
                line={"color": arm.look.colour, "dash": arm.look.dash, "width": 2}, marker=marker, connectgaps=False,
                hovertemplate=f"{name}<br>after turn %{{x}}<br>%{{y:.4g}}<extra></extra>",
            )
        )  # fmt: skip
        gaps = [turn for turn, number in curve if number is None]
        if gaps:
            height = 0.7 - 1.4 * (place + 0.5) / len(curves)
            figure.add_trace(
                go.Scatter(
                    x=gaps, y=[height] * len(gaps), yaxis=LANE_AXIS, mode="markers", name=name,
                    marker={"symbol": "x-thin-open", "size": 8, "line": {"width": 1.6, "color": arm.look.colour}},
                    hovertemplate=f"{name}<br>after turn %{{x}}: no value<extra></extra>",
                )
            )  # fmt: skip
    for limit in limits:
        limit_line(figure, [(0, limit), (last, limit)], f"damaged at {limit:g}")
    ends = [(arm.name, [number for _, number in curve if number is not None]) for arm, curve in curves]
    words = "; ".join(f"{name} from {known[0]:.4g} to {known[-1]:.4g}" for name, known in ends if known)
    return Panel(title, "higher" if direction == "higher" else "lower", figure.to_json(), words or "no values")


def _truth_value(stand: Standing) -> float | None:
    return stand.truth.value if stand.truth is not None else None
