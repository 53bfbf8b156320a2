"""The answer of a study as charts: how long no damage stands, truth and scores over turns, evaluators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from turngate.component import Direction
from turngate.errors import counted
from turngate.pages.report.charts.figure import (
    LANE_AXIS,
    SHARE,
    Figure,
    Panel,
    limit_line,
    panel,
    plane,
)
from turngate.pages.report.charts.series_style import Arm, EvaluatorSeries
from turngate.pages.report.page import visible
from turngate.traces.analysis.run import truth_unit
from turngate.traces.analysis.study import (
    ALL_EDITORS,
    STEPS,
    ArmAnswer,
    Curve,
    EditorDiscrimination,
    SensitivityRow,
    score_curve,
    survival_points,
    thresholds_of,
    truth_curve,
)

__all__ = [
    "arms_score_panel",
    "arms_truth_panel",
    "delta_panel",
    "roc_panels",
    "sensitivity_panels",
    "survival_panel",
]


def survival_panel(arms: Sequence[Arm]) -> Panel | None:
    """Share of runs in which no damaged image stood so far; None without a truth, and with one run per arm."""
    known = [arm for arm in arms if arm.answer.first_damage.runs]
    if not any(len(arm.runs) > 1 for arm in known):
        return None
    last = max(run.view.config.turns for arm in known for run in arm.runs)
    figure = panel(last, lane=False, y="share of runs without damage", y_range=SHARE)
    words = []
    for arm in known:
        turns, shares = survival_points(arm.answer.first_damage, max(run.view.config.turns for run in arm.runs))
        name = escape(visible(arm.name))
        figure.add(
            x=turns, y=shares, mode="lines+markers", name=name, legendgroup=arm.style.group,
            line=arm.style.line(shape="hv"), marker=arm.style.marker(),
            hovertemplate=f"{name}<br>turn %{{x}}<br>%{{y:.0%}} of runs without damage<extra></extra>",
        )  # fmt: skip
        words.append(f"{arm.name} ends at {shares[-1]:.0%} of {counted(len(arm.runs), 'run')}")
    return Panel("First damage stands", "higher", figure.json(), "; ".join(words))


_OfArm = Callable[[ArmAnswer], float | None]
_OfRow = Callable[[SensitivityRow], float | None]
_MEASURES: tuple[tuple[str, Direction, float, _OfArm, _OfRow], ...] = (
    ("Sound progress, per 100 planned turns", "higher", 100.0, lambda arm: arm.progress.value,
     lambda row: row.progress),
    ("Damage exposure, of planned turns", "lower", 1.0, lambda arm: arm.exposure.value, lambda row: row.exposure),
)  # fmt: skip


def sensitivity_panels(arms: Sequence[Arm], rows: Sequence[SensitivityRow], unit: str) -> list[Panel]:
    """Each axis over the thresholds of damaged, in `unit`; empty when the study names no further ones."""
    if not rows:
        return []
    own = thresholds_of([run for arm in arms for run in arm.runs])
    limits = sorted({*own, *(row.damaged_at for row in rows)})
    panels = []
    for title, direction, whole, of_arm, of_row in _MEASURES:
        figure = plane(f"damaged at{', ' if unit else ''}{unit}", "", None, SHARE)
        figure.layout["xaxis"]["tickvals"] = limits
        for arm in arms:
            points = {row.damaged_at: of_row(row) for row in rows if row.arm == arm.name}
            if len(own) == 1:
                points[own[0]] = of_arm(arm.answer)
            name = escape(visible(arm.name))
            values = [points[limit] for limit in sorted(points)]
            figure.add(
                x=sorted(points), y=[None if value is None else value / whole for value in values],
                mode="lines+markers", name=name, legendgroup=arm.style.group, line=arm.style.line(),
                marker=arm.style.marker(), connectgaps=False,
                hovertemplate=f"{name}<br>damaged at %{{x}} {unit}<br>%{{y:.0%}}<extra></extra>",
            )  # fmt: skip
        words = f"thresholds {', '.join(f'{limit:g}' for limit in limits)} {unit}".rstrip()
        panels.append(Panel(title, direction, figure.json(), words))
    return panels


def arms_truth_panel(arms: Sequence[Arm]) -> Panel | None:
    """Truth of the standing image after each turn, arm by arm; None when no arm has a value."""
    measured = [arm for arm in arms if any(run.summary.truth is not None for run in arm.runs)]
    if not measured:
        return None
    rows = [stand.truth for arm in measured for run in arm.runs for stand in run.stands if stand.truth is not None]
    limits = sorted({row.damaged_at for row in rows})
    unit = truth_unit(measured[0].runs[0].view)
    title = f"Truth: {', '.join(sorted({row.measure for row in rows}))}{', ' if unit else ''}{unit}"
    curves = [(arm, truth_curve(arm.runs)) for arm in measured]
    return _panel(title, measured[0].runs[0].truth_direction, curves, limits)


def arms_score_panel(arms: Sequence[Arm], evaluator: str) -> Panel | None:
    """Score of the standing image after each turn, for the arms that have the evaluator; None without any score."""
    having = [arm for arm in arms if any(evaluator in run.evaluators for run in arm.runs)]
    rows = (stand.scores.get(evaluator) for arm in having for run in arm.runs for stand in run.stands)
    first = next((row for row in rows if row is not None), None)
    direction: Direction = "higher" if first is None else first.direction
    curves = [(arm, score_curve(arm.runs, evaluator)) for arm in having]
    return _panel(evaluator, direction, curves, [])


def _panel(title: str, direction: Direction, curves: list[tuple[Arm, Curve]], limits: list[float]) -> Panel | None:
    if not any(number is not None for _, curve in curves for number in curve.values):
        return None
    last = max(1, *(curve.turns[-1] for _, curve in curves))
    figure = panel(last, lane=any(curve.missing for _, curve in curves))
    for arm, curve in curves:
        _add_band(figure, arm, curve)
    for place, (arm, curve) in enumerate(curves):
        name = escape(visible(arm.name))
        figure.add(
            x=curve.turns, y=curve.values, mode="lines+markers", name=name, legendgroup=arm.style.group,
            line=arm.style.line(), marker=arm.style.marker(maxdisplayed=12), connectgaps=False,
            hovertemplate=f"{name}<br>after turn %{{x}}<br>%{{y:.4g}}<extra></extra>",
        )  # fmt: skip
        if curve.missing:
            height = 0.7 - 1.4 * (place + 0.5) / len(curves)
            figure.add(
                x=curve.missing, y=[height] * len(curve.missing), yaxis=LANE_AXIS, mode="markers", name=name,
                legendgroup=arm.style.group,
                marker={
                    "symbol": "x-thin-open", "size": 8, "color": arm.style.colour,
                    "line": {"width": 1.6, "color": arm.style.colour},
                },
                hovertemplate=f"{name}<br>after turn %{{x}}: "
                + ("no value<extra></extra>" if len(arm.runs) == 1 else "a run without a value<extra></extra>"),
            )  # fmt: skip
    for limit in limits:
        limit_line(figure, [(0, limit), (last, limit)], f"damaged at {limit:g}")
    ends = [(arm.name, [number for number in curve.values if number is not None]) for arm, curve in curves]
    words = "; ".join(f"{name} from {known[0]:.4g} to {known[-1]:.4g}" for name, known in ends if known)
    left_out = [f"{visible(arm.name)} ({_untouched(curve)})" for arm, curve in curves if any(curve.untouched[1:])]
    note = f"Untouched images are left out: {', '.join(left_out)}." if left_out else ""
    return Panel(title, direction, figure.json(), words, note)


def _untouched(curve: Curve) -> str:
    turns = sum(number > 0 for number in curve.untouched[1:])
    return f"{turns} of {counted(len(curve.turns) - 1, 'turn')}"


def _add_band(figure: Figure, arm: Arm, curve: Curve) -> None:
    """From the lowest to the highest run, where there are several."""
    spans = [
        (turn, low, high)
        for turn, low, high in zip(curve.turns, curve.low, curve.high, strict=True)
        if low is not None and high is not None
    ]
    if spans:
        figure.add(
            x=[turn for turn, _, _ in spans] + [turn for turn, _, _ in reversed(spans)],
            y=[high for _, _, high in spans] + [low for _, low, _ in reversed(spans)], mode="lines",
            fill="toself", fillcolor=arm.style.pale(0.13), line={"width": 0}, hoverinfo="skip",
            name=f"{escape(visible(arm.name))}, range of runs", legendgroup=arm.style.group,
        )  # fmt: skip


# Evaluators against the truth: ROC curves, and the gaps between turn 1 and turns 5, 10 and 20.


def roc_panels(all_series: Sequence[EvaluatorSeries]) -> list[Panel]:
    """One per editor, then the mean of the editors: catch rate over false-alarm rate, vertical mean over runs.

    An editor without both sound and damaged candidates has none.
    """
    editors = list(dict.fromkeys(row.editor for series in all_series for row in series.answer.editors))
    panels = []
    for editor in [
        *(name for name in editors if name != ALL_EDITORS),
        *(name for name in editors if name == ALL_EDITORS),
    ]:
        known = [
            (series, row) for series in all_series for row in series.answer.editors if row.editor == editor and row.roc
        ]
        if known:
            panels.append(_roc_panel(editor, known))
    return panels


def _roc_panel(editor: str, known: Sequence[tuple[EvaluatorSeries, EditorDiscrimination]]) -> Panel:
    figure = plane("false-alarm rate, of sound candidates", "catch rate", [-0.03, 1.03], SHARE)
    figure.layout["xaxis"]["tickformat"] = ".0%"
    figure.layout["height"] = 344
    figure.add(
        x=[0, 1], y=[0, 1], mode="lines", name="a coin", hoverinfo="skip",
        line={"color": "var(--line)", "width": 1.2, "dash": "dash"},
    )  # fmt: skip
    for series, row in known:
        name = escape(visible(series.answer.evaluator))
        figure.add(
            x=[x for x, _ in row.roc], y=[y for _, y in row.roc], mode="lines+markers", name=name,
            legendgroup=series.style.group, line=series.style.line(), marker=series.style.marker(maxdisplayed=10),
            hovertemplate=f"{name}<br>false alarms %{{x:.0%}}<br>caught %{{y:.0%}}<extra></extra>",
        )  # fmt: skip
    words = "; ".join(
        f"{series.answer.evaluator} AUC {row.auc.value:.3f}" for series, row in known if row.auc.value is not None
    )
    return Panel(f"ROC, {editor}", None, figure.json(), words)


def delta_panel(series: EvaluatorSeries) -> Panel | None:
    """Gap of every run at turns 5, 10 and 20, negative where the score says that quality fell; None without runs."""
    gap = series.answer.gap
    if not gap.runs:
        return None
    figure = plane("turn", "change since turn 1", [-0.6, len(STEPS) - 0.4])
    figure.layout["xaxis"] |= {"tickvals": list(range(len(STEPS))), "ticktext": [str(step) for step in STEPS]}
    figure.layout["shapes"] = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "layer": "below",
         "line": {"color": "var(--ink)", "width": 1.2, "dash": "dash"}}
    ]  # fmt: skip
    for noticed in (True, False):
        _add_runs(figure, series, noticed)
    words = ", ".join(f"{series.misses(step)} of {counted(gap.runs, 'run')} not worse at turn {step}" for step in STEPS)
    return Panel(series.answer.evaluator, None, figure.json(), words)


def _add_runs(figure: Figure, series: EvaluatorSeries, noticed: bool) -> None:
    gap = series.answer.gap
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
