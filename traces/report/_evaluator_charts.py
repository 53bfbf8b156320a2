"""Evaluators against the truth: ROC curves, and the gaps between turn 1 and turns 5, 10 and 20."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from turngate.pages.report.charts.figure import SHARE, Figure, Panel, plane
from turngate.traces.analysis.study.gap import STEPS
from turngate.traces.report.inert import visible
from turngate.traces.report.judges import Judge

__all__ = ["delta_panel", "roc_panel"]


def roc_panel(judges: Sequence[Judge]) -> Panel | None:
    """Catch rate over false-alarm rate for every threshold; None without both kinds of candidates."""
    known = [judge for judge in judges if judge.answer.roc]
    if not known:
        return None
    figure = plane("false-alarm rate", "catch rate", [-0.03, 1.03], SHARE)
    figure.layout["xaxis"]["tickformat"] = ".0%"
    figure.layout["height"] = 344
    figure.add(
        x=[0, 1], y=[0, 1], mode="lines", name="a coin", hoverinfo="skip",
        line={"color": "var(--line)", "width": 1.2, "dash": "dash"},
    )  # fmt: skip
    for judge in known:
        name = escape(visible(judge.answer.evaluator))
        figure.add(
            x=[x for x, _ in judge.answer.roc], y=[y for _, y in judge.answer.roc], mode="lines+markers", name=name,
            legendgroup=judge.look.group, line=judge.look.line(), marker=judge.look.marker(maxdisplayed=10),
            hovertemplate=f"{name}<br>false alarms %{{x:.0%}}<br>caught %{{y:.0%}}<extra></extra>",
        )  # fmt: skip
    words = "; ".join(f"{judge.answer.evaluator} AUC {judge.answer.auc.value:.3f}" for judge in known)
    return Panel("ROC", None, figure.json(), words)


def delta_panel(judge: Judge) -> Panel | None:
    """Gap of every run at turns 5, 10 and 20, negative where the score says that quality fell; None without runs."""
    gap = judge.answer.gap
    if not gap.runs:
        return None
    figure = plane("turn", "change since turn 1", [-0.6, len(STEPS) - 0.4])
    figure.layout["xaxis"] |= {"tickvals": list(range(len(STEPS))), "ticktext": [str(step) for step in STEPS]}
    figure.layout["shapes"] = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "layer": "below",
         "line": {"color": "var(--ink)", "width": 1.2, "dash": "dash"}}
    ]  # fmt: skip
    for noticed in (True, False):
        _add_runs(figure, judge, noticed)
    words = ", ".join(f"{judge.misses(step)} of {gap.runs} runs not worse at turn {step}" for step in STEPS)
    return Panel(judge.answer.evaluator, None, figure.json(), words)


def _add_runs(figure: Figure, judge: Judge, noticed: bool) -> None:
    gap = judge.answer.gap
    spread = 0.5 / max(1, gap.runs - 1) if gap.runs > 1 else 0.0
    points = [
        (place + spread * number - (0.25 if gap.runs > 1 else 0.0), delta)
        for place, step in enumerate(STEPS)
        for number, delta in enumerate(gap.deltas[step])
        if (delta < 0) is noticed
    ]
    if points:
        marker = {"size": 8, "symbol": "circle", "color": "var(--sound)"}
        if not noticed:
            marker = {"size": 9, "symbol": "triangle-up", "color": "var(--damaged)"}
        word = "notices the decay" if noticed else "misses the decay"
        figure.add(
            x=[x for x, _ in points], y=[y for _, y in points], mode="markers", name=word, marker=marker,
            hovertemplate=f"{word}<br>%{{y:+.4g}} in better units<extra></extra>",
        )  # fmt: skip
