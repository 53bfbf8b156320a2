"""Evaluators against the truth: ROC curves, and the gaps between turn 1 and turns 5, 10 and 20."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from turngate.traces.analysis.gap import STEPS
from turngate.traces.plots._style import INK, draw, legend, name_of, new_figure, share_axis
from turngate.traces.report.judges import Judge

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["delta_figure", "roc_figure"]

_ACROSS = 3


def roc_figure(judges: Sequence[Judge]) -> Figure | None:
    """Catch rate over false-alarm rate; the AUC and its interval stand in the key."""
    from matplotlib.ticker import PercentFormatter

    known = [judge for judge in judges if judge.answer.roc]
    if not known:
        return None
    figure = new_figure(3.5, 3.6)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.7, linestyle=(0, (3, 2)))
    for judge in known:
        auc = judge.answer.auc
        interval = "" if auc.low is None or auc.high is None else f" [{auc.low:.2f}, {auc.high:.2f}]"
        x, y = zip(*judge.answer.roc, strict=True)
        text = f"{name_of(judge.answer.evaluator)}, AUC {auc.value:.2f}{interval}"
        axes.plot(x, y, label=text, **draw(judge.look, ceil(len(x) / 8)))
    axes.set_xlim(-0.03, 1.03)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("false-alarm rate")
    share_axis(axes, "catch rate")
    legend(figure, axes, columns=1)
    return figure


def delta_figure(judges: Sequence[Judge]) -> Figure | None:
    """Change of the score since turn 1 in better units, one mark per run; on or above 0 it misses the decay."""
    known = [judge for judge in judges if judge.answer.gap.runs]
    if not known:
        return None
    across = min(_ACROSS, len(known))
    down = ceil(len(known) / across)
    figure = new_figure(2.35 * across if across > 1 else 3.5, 2.1 * down)
    grid = figure.subplots(down, across, squeeze=False)
    for axes, judge in zip(grid.flat, known, strict=False):
        _add_runs(axes, judge)
    for axes in list(grid.flat)[len(known) :]:
        axes.set_axis_off()
    return figure


def _add_runs(axes: Axes, judge: Judge) -> None:
    gap = judge.answer.gap
    axes.axhline(0, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
    spread = 0.5 / (gap.runs - 1) if gap.runs > 1 else 0.0
    for place, step in enumerate(STEPS):
        for number, delta in enumerate(gap.deltas[step]):
            x = place + spread * number - (0.25 if gap.runs > 1 else 0.0)
            sign = ("#0b6cab", "o") if delta < 0 else ("#c25200", "^")
            axes.plot([x], [delta], color=sign[0], marker=sign[1], linestyle="none")
    axes.set_xticks(range(len(STEPS)), [str(step) for step in STEPS])
    axes.set_xlim(-0.6, len(STEPS) - 0.4)
    axes.set_xlabel("turn")
    axes.set_ylabel("change since turn 1")
    axes.set_title(f"{name_of(judge.answer.evaluator)}: misses {gap.failures} of {gap.runs}", fontsize=8, loc="left")
