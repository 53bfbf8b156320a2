"""Curves over turns: truth and scores of the standing image, and how long the runs of an arm stay without damage."""

from __future__ import annotations

from collections.abc import Sequence

from turngate.errors import counted
from turngate.pages.plots._style import file_name, name_of
from turngate.pages.plots.arm_lines import ArmLine, Around, arm_line_figures
from turngate.pages.plots.plot import (
    LeftOut,
    Plot,
    PlotArm,
    PlotData,
    control_words,
    limit_words,
    runs_of,
    sample_words,
)
from turngate.traces.analysis.study import Curve, score_curve, survival_points, thresholds_of, truth_curve

__all__ = ["first_damage_plot", "score_plot", "truth_plots"]

_COLUMNS = ("arm", "control", "runs", "turn", "median", "lowest", "highest", "untouched_runs")


def truth_plots(data: PlotData) -> list[Plot | LeftOut]:
    """Truth of the standing image over turns: median over the runs of an arm, with the range over its runs as a band.

    One plot per measure of truth: values of two measures have no common axis. An arm whose runs measure it in several
    ways is left out, since a median over them would mean nothing.
    """
    by_measure: dict[tuple[str, str], list[PlotArm]] = {}
    mixed = []
    for arm in data.arms:
        measures = {
            (stand.truth.measure, run.truth_direction)
            for run in arm.runs
            for stand in run.stands
            if stand.truth is not None and stand.truth.value is not None
        }
        if len(measures) == 1:
            by_measure.setdefault(measures.pop(), []).append(arm)
        elif measures:
            mixed.append(name_of(arm.name))
    name = f"truth{data.suffix}"
    found: list[Plot | LeftOut] = [
        _truth_plot(name if len(by_measure) == 1 else f"{name}-{file_name(measure)}", measure, better, some, data)
        for (measure, better), some in by_measure.items()
    ]
    if mixed:
        found.append(LeftOut(name, f"runs of one arm measure truth in different ways: {', '.join(mixed)}"))
    return found or [LeftOut(name, "no truth was measured")]


def _truth_plot(name: str, measure: str, better: str, some: Sequence[PlotArm], data: PlotData) -> Plot | LeftOut:
    curves = [(arm, truth_curve(arm.runs)) for arm in some]
    unit = f" in {data.truth.truth_unit}" if data.truth.truth_unit else ""
    axis = f"Truth: {name_of(measure)}{unit} ({better} is better), median over runs"
    told = f"Truth of the standing image after each turn, median over the runs of an arm. {data.truth_words} "
    told += "Dashed: that limit. " if thresholds_of(runs_of(some)) else ""
    return _curves(name, curves, axis, told, data, thresholds_of(runs_of(some)))


def score_plot(data: PlotData, evaluator: str) -> Plot | LeftOut:
    """Score of the standing image over turns, as `truth_plots`, over the arms whose runs ask the evaluator."""
    name = f"score-{file_name(evaluator)}"
    asked = [arm for arm in data.arms if any(evaluator in run.evaluators for run in arm.runs)]
    curves = [(arm, score_curve(arm.runs, evaluator)) for arm in asked]
    facts = [run.view.info.resolved.evaluators.get(evaluator) for run in runs_of(asked)]
    better = next((f" ({one.direction} is better)" for one in facts if one is not None), "")
    axis = f"{name_of(evaluator)}{better}, median over runs"
    told = (
        f"Score by {name_of(evaluator)}{better} of the standing image after each turn, median over the runs of an arm. "
    )
    return _curves(name, curves, axis, told, data, ())


def _curves(
    name: str,
    curves: Sequence[tuple[PlotArm, Curve]],
    axis: str,
    told: str,
    data: PlotData,
    limits: Sequence[float],
) -> Plot | LeftOut:
    # Where every run's image is untouched at every turn there is no line.
    drawn = [(arm, curve) for arm, curve in curves if any(value is not None for value in curve.values)]
    if not drawn:
        return LeftOut(name, "no standing image has a value: all are untouched or were not measured")
    lines = [ArmLine(arm, curve.turns, curve.values, curve.low, curve.high) for arm, curve in drawn]
    runs = runs_of([arm for arm, _ in drawn])
    lineless = [name_of(arm.name) for arm, _ in curves if arm not in [each for each, _ in drawn]]
    bare = f"Without a line, for no image has a value: {', '.join(lineless)}." if lineless else ""
    note = " ".join(part for part in (sample_words(runs, data.never_begun), _left_out(drawn), bare) if part)
    banded = any(line.banded for line in lines)
    band = "The band is the range over the runs, not an interval; lines in grey have none drawn. " if banded else ""
    around = Around(axis, "turn", note, limits, limit_words(data) if limits else "", _span(lines, limits))
    return Plot(
        name=name,
        figures=arm_line_figures(lines, data.arms, around),
        caption=f"{told}Turn 0 is the origin; a run that ended early keeps its last image. {band}"
        f"{control_words(data.arms)}{note}",
        columns=_COLUMNS,
        rows=[
            (arm.name, arm.control, len(arm.runs), *values)
            for arm, curve in curves
            for values in zip(curve.turns, curve.values, curve.low, curve.high, curve.untouched, strict=True)
        ],
    )


def _left_out(curves: Sequence[tuple[PlotArm, Curve]]) -> str:
    """What the medians leave out, as sentences."""
    untouched = [(arm, max(curve.untouched[1:], default=0), curve.untouched[-1]) for arm, curve in curves]
    ends = [f"{name_of(arm.name)} {end} of {len(arm.runs)}" for arm, _, end in untouched if end]
    gaps = sum(len(curve.missing) for _, curve in curves)
    sentences = [
        "Untouched images have no value and are left out of the medians."
        if any(most for _, most, _ in untouched)
        else "",
        f"Runs that end untouched: {', '.join(ends)}." if ends else "",
        f"At {counted(gaps, 'point')} of the lines a run has no value: the median is that of the others."
        if gaps
        else "",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _span(lines: Sequence[ArmLine], limits: Sequence[float]) -> tuple[float, float]:
    """Ends of the vertical axis."""
    shown = [v for line in lines for values in (line.y, line.low, line.high) for v in values if v is not None]
    shown += limits
    margin = 0.06 * (max(shown) - min(shown)) or 0.5
    return min(shown) - margin, max(shown) + margin


def first_damage_plot(data: PlotData) -> Plot | LeftOut:
    """Share of runs in which no damaged image stood yet (Kaplan-Meier), over the arms with several runs."""
    name = f"first-damage{data.suffix}"
    known = [arm for arm in data.arms if arm.answer.first_damage.runs]
    if not known:
        return LeftOut(name, "no truth was measured")
    several = [arm for arm in known if arm.answer.first_damage.runs > 1]
    if not several:
        return LeftOut(name, "every arm has a single run: the turn is in the study's answer")
    lines = []
    for arm in several:
        first = arm.answer.first_damage
        turns, shares = survival_points(first, max(run.answer.planned for run in arm.runs))
        lines.append(ArmLine(arm, turns, shares, detail=f"never in {first.never} of {first.runs}"))
    single = [name_of(arm.name) for arm in known if arm not in several]
    note = sample_words(runs_of(several), data.never_begun)
    note += f" Arms with a single run are left out: {', '.join(single)}." if single else ""
    caption = (
        "Kaplan-Meier estimate of the share of runs in which no damaged image stood yet. The first time counts, also "
        "where a rollback mends it; a run in which none stood is censored at its last planned turn, one that ended "
        f"early as well, for stopping is the gate's doing. No intervals. {data.truth_words} "
        f"{control_words(data.arms)}{note}"
    )
    return Plot(
        name=name,
        figures=arm_line_figures(
            lines,
            data.arms,
            Around("Runs in which no damaged image stood yet", "turn", f"{note} {data.truth_words}", steps=True),
        ),
        caption=caption,
        columns=("arm", "control", "runs", "never", "turn", "share_without_damage"),
        rows=[
            (arm.name, arm.control, arm.answer.first_damage.runs, arm.answer.first_damage.never, turn, share)
            for arm, line in zip(several, lines, strict=True)
            for turn, share in zip(line.x, line.y, strict=True)
        ],
    )
