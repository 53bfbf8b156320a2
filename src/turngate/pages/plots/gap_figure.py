"""Do evaluators notice the decay? The change of each score since turn 1, as in Banana100."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from turngate.errors import counted
from turngate.pages.plots._style import DASHED, INK, OWN, name_of, panels, parts, surround
from turngate.pages.plots.evaluator_figures import JudgedRuns
from turngate.pages.plots.plot import LeftOut, Plot, PlotData
from turngate.traces.analysis.study import STEPS, EvaluatorAnswer

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["gap_plot"]

_MOST = 15
# Hollow and filled, round and pointed: apart without colour as well.
_NOTICED: dict[str, Any] = {"marker": "o", "color": OWN, "markerfacecolor": "white"}
_MISSED: dict[str, Any] = {"marker": "^", "color": "#c25200"}


def gap_plot(data: PlotData) -> Plot | LeftOut:
    """Change of the score since turn 1 in better units, one mark per run without a gate in which truth fell."""
    name, judged = f"gap{data.suffix}", JudgedRuns.of(data)
    if not judged.asked or not judged.runs:
        return LeftOut(name, judged.nothing)
    known = [one for one in judged.asked if one.gap.runs]
    steps = ", ".join(map(str, (1, *STEPS)))
    if not known:
        return LeftOut(name, f"no run without a gate in which truth fell took a scored image at each of turns {steps}")
    short = [f"{name_of(one.evaluator)} {one.gap.left_out}" for one in known if one.gap.left_out]
    calm = max(one.gap.not_fallen for one in known)
    note = judged.note()
    note += f" Only runs in which truth fell: {counted(calm, 'run')} left out." if calm else " Truth fell in all runs."
    note += f" Left out, no scored image taken at each of turns {steps}: {', '.join(short)}." if short else ""
    each = ", ".join(f"{name_of(one.evaluator)} {one.gap.failures} of {one.gap.runs}" for one in known)
    return Plot(
        name=name,
        figures=[_figure(some, note) for some in parts(known, _MOST)],
        caption=f"Change of each score since turn 1 at turns {', '.join(map(str, STEPS))}, sign-corrected so that a "
        "negative change says that quality fell; one mark per run in which truth fell from turn 1 to all of them. On "
        "or above the dashed line the evaluator misses the decay. Runs missed at one of the turns or more: "
        f"{each}. No intervals. {data.truth_words} {note}",
        columns=("evaluator", "turn", "run", "change"),
        rows=[
            (one.evaluator, step, number, delta)
            for one in known
            for step in STEPS
            for number, delta in enumerate(one.gap.deltas[step], 1)
        ],
    )


def _figure(some: Sequence[EvaluatorAnswer], note: str) -> Figure:
    from matplotlib.lines import Line2D

    titles = [f"{name_of(one.evaluator)}\nmisses {one.gap.failures} of {counted(one.gap.runs, 'run')}" for one in some]
    figure, grid = panels(titles, 1.2 if len(some) > 3 else 1.5, columns=3, shared=False)
    for axes, one in zip(grid, some, strict=True):
        _add_runs(axes, one)
    key: list[tuple[Artist, str]] = [
        (Line2D([], [], linestyle="none", **_NOTICED), "worse than at turn 1: noticed"),
        (Line2D([], [], linestyle="none", **_MISSED), "not worse: missed"),
    ]
    surround(figure, "Change of the score since turn 1 (up is better), one mark per run", "turn", key, note)
    return figure


def _add_runs(axes: Axes, one: EvaluatorAnswer) -> None:
    from matplotlib.ticker import MaxNLocator

    gap = one.gap
    axes.axhline(0, color=INK, linewidth=0.7, linestyle=DASHED, zorder=1.5)
    spread = 0.5 / (gap.runs - 1) if gap.runs > 1 else 0.0
    for place, step in enumerate(STEPS):
        for number, delta in enumerate(gap.deltas[step]):
            x = place + spread * number - (0.25 if gap.runs > 1 else 0.0)
            axes.plot([x], [delta], linestyle="none", clip_on=False, **(_NOTICED if delta < 0 else _MISSED))
    axes.set_xticks(range(len(STEPS)), [str(step) for step in STEPS])
    axes.set_xlim(-0.5, len(STEPS) - 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
