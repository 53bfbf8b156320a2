"""Do evaluators notice the decay? The change of each score since turn 1, as in Banana100."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from turngate.pages.plots._style import DASHED, INK, OWN, name_of, panels, parts, surround
from turngate.pages.plots.plot import Plot
from turngate.pages.plots.sample import sample_words
from turngate.pages.report.charts import EvaluatorSeries
from turngate.traces.analysis.study import STEPS, LoadedRun

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["delta_plot"]

_MOST = 15
# Hollow and filled, round and pointed: apart without colour as well.
_NOTICED: dict[str, Any] = {"marker": "o", "color": OWN, "markerfacecolor": "white"}
_MISSED: dict[str, Any] = {"marker": "^", "color": "#c25200"}


def delta_plot(all_series: Sequence[EvaluatorSeries], runs: Sequence[LoadedRun]) -> Plot | None:
    """Change of the score since turn 1 in better units, one mark per run; `runs` are those that were looked at."""
    known = [series for series in all_series if series.answer.gap.runs]
    if not known:
        return None
    answers = [series.answer for series in known]
    short = [f"{name_of(answer.evaluator)} {answer.gap.left_out}" for answer in answers if answer.gap.left_out]
    left_out = f" Left out, no scored image taken at each of turns 1, 5, 10, 20: {', '.join(short)}." if short else ""
    note = sample_words(runs) + left_out
    each = ", ".join(f"{name_of(answer.evaluator)} {answer.gap.failures} of {answer.gap.runs}" for answer in answers)
    return Plot(
        name="deltas",
        figures=[_figure(some, note) for some in parts(known, _MOST)],
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
