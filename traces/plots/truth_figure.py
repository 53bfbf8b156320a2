"""What the current image of each arm is worth after each turn."""

from __future__ import annotations

from collections.abc import Sequence

from turngate.pages.plots.arm_lines import ArmLine, Around, arm_line_figures
from turngate.pages.plots.plot import Plot
from turngate.pages.plots.sample import control_words, interval_words, limit_words, runs_of, sample_words
from turngate.pages.report.study.arms import Arm
from turngate.traces.plots._text import name_of
from turngate.traces.report.answer_points import thresholds_of
from turngate.traces.report.curves import truth_curve

__all__ = ["truth_plots"]


def truth_plots(arms: Sequence[Arm], missing: int) -> list[Plot]:
    """Truth of the current image over turns, mean over runs, with the 95 % interval over origins as a band.

    One plot per measure of truth: values of two measures have no common axis. An arm whose runs measure it in several
    ways is left out, since a mean over them would mean nothing. `missing` runs were never begun.
    """
    by_measure: dict[tuple[str, str], list[Arm]] = {}
    for arm in arms:
        measures = {
            (stand.truth.measure, run.truth_direction)
            for run in arm.runs
            for stand in run.stands
            if stand.truth is not None and stand.truth.value is not None
        }
        if len(measures) == 1:
            by_measure.setdefault(measures.pop(), []).append(arm)
    return [
        _plot("truth" if len(by_measure) == 1 else f"truth-{_file_name(measure)}", measure, some, arms, missing)
        for (measure, _), some in by_measure.items()
    ]


def _plot(name: str, measure: str, measured: Sequence[Arm], arms: Sequence[Arm], missing: int) -> Plot:
    curves = [(arm, truth_curve(arm.runs)) for arm in measured]
    lines = [ArmLine(arm, curve.turns, curve.values, curve.low, curve.high) for arm, curve in curves]
    runs = runs_of(measured)
    better = measured[0].runs[0].truth_direction
    span, cut = _span(lines, thresholds_of(runs))
    gaps = sum(len(curve.missing) for _, curve in curves)
    said = (
        sample_words(runs, missing),
        interval_words(runs),
        f"At {gaps} points of the lines a run has no value: the mean is that of the others." if gaps else "",
        "Unchanged images lie outside." if cut else "",
    )
    note = " ".join(part for part in said if part)
    above = f"Truth: {name_of(measure)} ({better} is better), mean over runs"
    band = "The band is the 95 % interval of the mean, by bootstrap over origins; grey lines have none drawn. "
    caption = (
        f"Truth ({name_of(measure)}, {better} is better) of the current image after each turn, mean over the runs of "
        f"an arm. Turn 0 is the origin; a run that ended early keeps its last image. Dashed: {limit_words(measured)}. "
        f"{band if any(line.banded for line in lines) else ''}{control_words(measured)}{note}"
    )
    return Plot(
        name=name,
        figures=arm_line_figures(
            lines, arms, Around(above, "turn", note, thresholds_of(runs), limit_words(measured), span)
        ),
        caption=caption,
        columns=("arm", "control", "runs", "turn", "mean", "low", "high"),
        rows=[
            (line.arm.name, line.arm.answer.control, len(line.arm.runs), *values)
            for line in lines
            for values in zip(line.x, line.y, line.low, line.high, strict=True)
        ],
    )


def _span(lines: Sequence[ArmLine], limits: Sequence[float]) -> tuple[tuple[float, float], bool]:
    """Ends of the vertical axis, and whether some values lie outside.

    An untouched image has an infinite PSNR, recorded as 80 dB: on that scale all the others may look alike.
    """
    moved = [v for line in lines if line.arm.answer.accepted_share.value for v in line.y[1:] if v is not None]
    every = [v for line in lines for band in (line.y, line.low, line.high) for v in band if v is not None]
    cut = bool(moved) and max(every) - min(every) > 2 * (max(moved) - min(moved)) > 0
    shown = [*(moved if cut else every), *limits]
    margin = 0.06 * (max(shown) - min(shown)) or 0.5
    return (min(shown) - margin, max(shown) + margin), cut


def _file_name(measure: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in measure)
