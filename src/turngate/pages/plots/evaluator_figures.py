"""Figures of evaluators: ROC curves, and differences to no gate."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from turngate.pages.plots._style import (
    BACK,
    DASHED,
    INK,
    OWN,
    draw,
    fitted,
    name_of,
    panels,
    parts,
    share_axis,
    surround,
)
from turngate.pages.plots.arm_lines import TOGETHER
from turngate.pages.plots.plot import Plot, interval_words, sample_words
from turngate.pages.report.charts import EvaluatorSeries
from turngate.traces.analysis.study import STEPS, EvaluatorAnswer, LoadedRun

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["delta_plot", "roc_plot"]


_MOST = 16
_ABOVE, _BELOW = "Catch rate", "false-alarm rate"


def roc_plot(all_series: Sequence[EvaluatorSeries], runs: Sequence[LoadedRun]) -> Plot | None:
    """Catch rate over false-alarm rate for every threshold, with the AUC and its interval; `runs` were looked at."""
    known = [series for series in all_series if series.answer.roc]
    if not known:
        return None
    some = [
        f"{name_of(one.answer.evaluator)} scored {one.answer.candidates} of {one.answer.of_candidates} candidates"
        for one in known
        if one.answer.candidates < one.answer.of_candidates
    ]
    most = max(series.answer.candidates for series in known)
    sentences = [f"{most} candidates.", sample_words(runs), interval_words(runs), f"{'; '.join(some)}." if some else ""]
    note = " ".join(part for part in sentences if part)
    of = "of all arms" if known[0].answer.arm == "all" else f"of arm {name_of(known[0].answer.arm)}"
    each = "; ".join(f"{name_of(series.answer.evaluator)} {_auc(series.answer)}" for series in known)
    brackets = "Brackets: 95 % bootstrap interval over origins. " if "[" in _auc(known[0].answer) else ""
    caption = (
        f"ROC curves of the evaluators against the truth, on the candidates {of}: damaged candidates that a threshold "
        f"on the score would keep out, over sound ones that it would keep out as well. {each}. {brackets}Dashed: a "
        f"coin. {note}"
    )
    together = len(all_series) <= TOGETHER
    return Plot(
        name="roc",
        figures=[_together(known, note)] if together else [_apart(few, known, note) for few in parts(known, _MOST)],
        caption=caption,
        columns=(
            "evaluator", "arm", "candidates", "of_candidates", "auc", "auc_low", "auc_high", "false_alarm_rate",
            "catch_rate",
        ),
        rows=[
            (a.evaluator, a.arm, a.candidates, a.of_candidates, a.auc.value, a.auc.low, a.auc.high, x, y)
            for a in (series.answer for series in known)
            for x, y in a.roc
        ],
    )  # fmt: skip


def _together(known: Sequence[EvaluatorSeries], note: str) -> Figure:
    figure, (axes,) = panels([""], 2.7)
    _set_axes(axes)
    key: list[tuple[Artist, str]] = []
    for series in known:
        x, y = zip(*series.answer.roc, strict=True)
        (line,) = axes.plot(x, y, markevery=ceil(len(x) / 8), **draw(series.style))
        auc = _auc(series.answer)
        key.append((line, f"{fitted(name_of(series.answer.evaluator), 1.3)}, {auc}"))
    surround(figure, _ABOVE, _BELOW, key, note)
    return figure


def _apart(few: Sequence[EvaluatorSeries], known: Sequence[EvaluatorSeries], note: str) -> Figure:
    from matplotlib.lines import Line2D

    titles = [f"{name_of(series.answer.evaluator)}\n{_auc(series.answer)}" for series in few]
    figure, grid = panels(titles, 1.6, columns=4)
    for axes, series in zip(grid, few, strict=True):
        _set_axes(axes)
        for other in known:
            if other is not series:
                axes.plot(*zip(*other.answer.roc, strict=True), color=BACK, lw=0.6, zorder=2)
        axes.plot(*zip(*series.answer.roc, strict=True), color=OWN, lw=1.6, zorder=3)
    key: list[tuple[Artist, str]] = [
        (Line2D([], [], color=OWN, lw=1.8), "the evaluator of the panel"),
        (Line2D([], [], color=BACK, lw=0.8), "the others"),
        (Line2D([], [], color=INK, lw=0.7, linestyle=DASHED), "a coin"),
    ]
    surround(figure, _ABOVE, _BELOW, key, note)
    return figure


def _set_axes(axes: Axes) -> None:
    from matplotlib.ticker import FixedLocator, PercentFormatter

    axes.plot([0, 1], [0, 1], color=INK, lw=0.7, linestyle=DASHED, zorder=1.5)
    share_axis(axes)
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlim(-0.03, 1.03)
    axes.xaxis.set_major_locator(FixedLocator([0, 0.5, 1]))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_aspect("equal")


def _auc(answer: EvaluatorAnswer) -> str:
    auc = answer.auc
    interval = "" if auc.low is None or auc.high is None else f" [{auc.low:.2f}, {auc.high:.2f}]"
    return f"AUC {auc.value:.2f}{interval}"


# Do evaluators notice the decay? The change of each score since turn 1, as in Banana100.

_MOST_DIFFERENCES = 15
# Hollow and filled, round and pointed: apart without colour as well.
_NOTICED: dict[str, Any] = {"marker": "o", "color": OWN, "markerfacecolor": "white"}
_MISSED: dict[str, Any] = {"marker": "^", "color": "#c25200"}


def delta_plot(all_series: Sequence[EvaluatorSeries], runs: Sequence[LoadedRun]) -> Plot | None:
    """Change of the score since turn 1 in better units, one mark per run; `runs` are those that were looked at."""
    known = [series for series in all_series if series.answer.gap.runs]
    if not known:
        return None
    short = [
        f"{name_of(series.answer.evaluator)} {series.answer.gap.left_out}"
        for series in known
        if series.answer.gap.left_out
    ]
    left_out = f" Left out, no scored image taken at each of turns 1, 5, 10, 20: {', '.join(short)}." if short else ""
    note = sample_words(runs) + left_out
    each = ", ".join(
        f"{name_of(series.answer.evaluator)} {series.answer.gap.failures} of {series.answer.gap.runs}"
        for series in known
    )
    return Plot(
        name="deltas",
        figures=[_figure(some, note) for some in parts(known, _MOST_DIFFERENCES)],
        caption=f"Change of each score since turn 1 at turns {', '.join(map(str, STEPS))}, sign-corrected so that a "
        "negative change says that quality fell; one mark per run. On or above the dashed line the evaluator misses "
        f"the decay. Runs missed at one of the turns or more: {each}. {note}",
        columns=("evaluator", "turn", "run", "change"),
        rows=[
            (series.answer.evaluator, step, number, delta)
            for series in known
            for step in STEPS
            for number, delta in enumerate(series.answer.gap.deltas[step], 1)
        ],
    )


def _figure(some: Sequence[EvaluatorSeries], note: str) -> Figure:
    from matplotlib.lines import Line2D

    titles = [
        f"{name_of(series.answer.evaluator)}\nmisses {series.answer.gap.failures} of {series.answer.gap.runs} runs"
        for series in some
    ]
    figure, grid = panels(titles, 1.2 if len(some) > 3 else 1.5, columns=3, shared=False)
    for axes, series in zip(grid, some, strict=True):
        _add_runs(axes, series)
    key: list[tuple[Artist, str]] = [
        (Line2D([], [], linestyle="none", **_NOTICED), "worse than at turn 1: noticed"),
        (Line2D([], [], linestyle="none", **_MISSED), "not worse: missed"),
    ]
    surround(figure, "Change of the score since turn 1 (up is better), one mark per run", "turn", key, note)
    return figure


def _add_runs(axes: Axes, series: EvaluatorSeries) -> None:
    from matplotlib.ticker import MaxNLocator

    gap = series.answer.gap
    axes.axhline(0, color=INK, linewidth=0.7, linestyle=DASHED, zorder=1.5)
    spread = 0.5 / (gap.runs - 1) if gap.runs > 1 else 0.0
    for place, step in enumerate(STEPS):
        for number, delta in enumerate(gap.deltas[step]):
            x = place + spread * number - (0.25 if gap.runs > 1 else 0.0)
            axes.plot([x], [delta], linestyle="none", clip_on=False, **(_NOTICED if delta < 0 else _MISSED))
    axes.set_xticks(range(len(STEPS)), [str(step) for step in STEPS])
    axes.set_xlim(-0.5, len(STEPS) - 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
