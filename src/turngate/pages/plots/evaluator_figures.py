"""How well each evaluator tells damage in each editor's runs: areas under the ROC curve, and the curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from turngate.pages.plots._style import (
    BACK,
    DASHED,
    INK,
    OWN,
    TWO_COLUMNS,
    draw,
    fitted,
    name_of,
    panels,
    parts,
    share_axis,
    surround,
)
from turngate.pages.plots.arm_lines import TOGETHER
from turngate.pages.plots.plot import LeftOut, Plot, PlotData, interval_words, runs_of, sample_words
from turngate.traces.analysis.study import ALL_EDITORS, EditorDiscrimination, EvaluatorAnswer, LoadedRun

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["JudgedRuns", "auc_plot", "roc_plot"]

_MOST = 12
_MOST_ROWS = 40
_ROW = 0.16
_NAMES = 1.7
"""Inches at most for the names of the evaluators."""
_ABOVE, _BELOW = "Damaged candidates that a threshold refuses", "sound candidates that it refuses as well"
_NO_BASE = "no arm without a gate: add a no-gate arm"
_GIVEN, _LIKE = "†", "‡"


@dataclass(frozen=True)
class JudgedRuns:
    """The evaluators and the runs without a gate that their areas rest on."""

    evaluators: list[EvaluatorAnswer]
    """Those with an area in some editor's runs."""
    asked: list[EvaluatorAnswer]
    runs: list[LoadedRun]

    @classmethod
    def of(cls, data: PlotData) -> JudgedRuns:
        """As the study's answer has them."""
        asked = data.truth.evaluators
        arms = {one.arm for one in asked}
        known = [one for one in asked if any(row.auc.value is not None for row in one.editors)]
        return cls(known, asked, [run for run in runs_of(data.arms) if run.run.arm in arms])

    @property
    def nothing(self) -> str:
        """Why there is nothing to draw; empty where there is something."""
        if not self.asked:
            return "no evaluator was asked"
        if not self.runs:
            return _NO_BASE
        return "" if self.evaluators else "no run without a gate has both sound and damaged candidates with a score"

    @property
    def editors(self) -> list[str]:
        """All editors, then the row over all where there are several."""
        names = list(dict.fromkeys(row.editor for one in self.evaluators for row in one.editors))
        return sorted(names, key=lambda name: name == ALL_EDITORS)

    def note(self) -> str:
        """What all of it rests on, as sentences."""
        return f"Runs of arm {name_of(self.runs[0].run.arm)} only, without a gate. {sample_words(self.runs)}"

    def counts(self) -> str:
        """Candidates of each editor, as a sentence."""
        words = [f"{name_of(editor)} {_counts(self._rows(editor))}" for editor in self.editors]
        return f"n damaged / sound candidates: {'; '.join(words)}."

    def _rows(self, editor: str) -> list[EditorDiscrimination]:
        return [row for one in self.evaluators for row in one.editors if row.editor == editor]

    def title(self, editor: str) -> str:
        """Of the editor's panel."""
        return f"{name_of(editor)}\n{_counts(self._rows(editor))}"

    def signs(self) -> str:
        """What the signs at the names mean, as sentences."""
        given = f"{_GIVEN}: it was given the origin. " if any(one.given_origin for one in self.evaluators) else ""
        like = (
            f"{_LIKE}: it is what the truth is measured by. " if any(one.like_truth for one in self.evaluators) else ""
        )
        return f"{given}{like}{'Their areas say less. ' if given or like else ''}"


def _counts(rows: Sequence[EditorDiscrimination]) -> str:
    """`52 / 8`, or `50-52 / 8` where evaluators scored different candidates."""

    def span(numbers: Sequence[int]) -> str:
        return f"{min(numbers)}" if min(numbers) == max(numbers) else f"{min(numbers)}-{max(numbers)}"

    return f"{span([row.damaged for row in rows])} / {span([row.sound for row in rows])}"


def _name(one: EvaluatorAnswer) -> str:
    sign = (_GIVEN if one.given_origin else "") + (_LIKE if one.like_truth else "")
    return f"{name_of(one.evaluator)}{f' {sign}' if sign else ''}"


def auc_plot(data: PlotData) -> Plot | LeftOut:
    """A panel per editor, a row per evaluator: its area with the interval, or with each origin's own area."""
    name, judged = f"auc{data.suffix}", JudgedRuns.of(data)
    if judged.nothing:
        return LeftOut(name, judged.nothing)
    caption = (
        "Area under the ROC curve (AUC): how often a sound candidate scores better than a damaged one of the same run, "
        "mean over the runs of an origin, then over origins, for each editor by itself; "
        f"{'the last panel is the mean of the editors, no pool. ' if ALL_EDITORS in judged.editors else ''}"
        f"1 is perfect, 0.5 a coin (dashed), below it ranks backwards. {judged.counts()} {judged.signs()}"
        f"{data.truth_words} {interval_words(judged.runs)} {judged.note()}"
    )
    return Plot(
        name=name,
        figures=[_areas(few, judged) for few in parts(judged.evaluators, _MOST_ROWS)],
        caption=caption,
        columns=(
            "evaluator", "rescored", "arm", "editor", "runs", "of_runs", "damaged", "sound", "origins", "origin", "auc",
            "auc_low", "auc_high", "given_origin", "like_truth",
        ),
        rows=[
            (
                one.evaluator, one.rescored is not None, one.arm, row.editor, row.runs, row.of_runs, row.damaged,
                row.sound, row.auc.clusters, *values, one.given_origin, one.like_truth,
            )
            for one in judged.evaluators
            for row in one.editors
            for values in [
                (None, row.auc.value, row.auc.low, row.auc.high),
                *((origin, area, None, None) for origin, area in row.auc.by_origin.items()),
            ]
        ],
    )  # fmt: skip


def _areas(few: Sequence[EvaluatorAnswer], judged: JudgedRuns) -> Figure:
    from matplotlib.lines import Line2D

    names = [fitted(_name(one), _NAMES) for one in few]
    editors = judged.editors
    high = _ROW * len(few) + 0.3
    figure, grid = panels([judged.title(editor) for editor in editors], high, columns=min(4, len(editors)))
    figure.set_figwidth(TWO_COLUMNS)
    few_origins = False
    for axes, editor in zip(grid, editors, strict=True):
        axes.axvline(0.5, color=INK, lw=0.7, linestyle=DASHED, zorder=1)
        for row, one in enumerate(few):
            mine = next((each for each in one.editors if each.editor == editor), None)
            if mine is None or mine.auc.value is None:
                # Never asked there, or only sound or only damaged candidates.
                axes.text(0.5, row, "not told", ha="center", va="center_baseline", color="#6b665e")
                continue
            area, mean = mine.auc, mine.auc.value
            if area.low is not None and area.high is not None:
                axes.plot([area.low, area.high], [row, row], color=OWN, lw=1, zorder=2)
            few_origins |= bool(area.by_origin)
            own = list(area.by_origin.values())
            axes.plot(own, [row] * len(own), linestyle="none", marker="|", markersize=7, color=INK, zorder=2)
            axes.plot([mean], [row], linestyle="none", marker="o", color=OWN, zorder=3, clip_on=False)
        axes.set_xlim(-0.04, 1.04)
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_yticks(range(len(few)), names)
        axes.set_ylim(len(few) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
    key: list[tuple[Artist, str]] = []
    if few_origins:
        key = [
            (Line2D([], [], linestyle="none", marker="o", color=OWN), "mean over origins"),
            (Line2D([], [], linestyle="none", marker="|", markersize=6, color=INK), "one origin"),
        ]
    interval = interval_words(judged.runs)
    head = "Editor, n damaged / sound candidates"
    surround(figure, head, "AUC within a run", key, f"{judged.signs()}{judged.note()} {interval}")
    return figure


def roc_plot(data: PlotData) -> Plot | LeftOut:
    """A panel per evaluator, a curve per editor: the vertical mean of its runs' curves."""
    name, judged = f"roc{data.suffix}", JudgedRuns.of(data)
    if judged.nothing:
        return LeftOut(name, judged.nothing)
    caption = (
        "ROC curves within a run, vertical mean over the runs of each editor: damaged candidates that a threshold on "
        "the score would refuse, over sound ones that it would refuse as well. Above each panel: the mean AUC "
        f"{'over the editors' if ALL_EDITORS in judged.editors else 'over origins'}. Dashed: a coin. No intervals at "
        f"the curves; those of the areas are in auc. {judged.counts()} {judged.signs()}{data.truth_words} "
        f"{judged.note()}"
    )
    return Plot(
        name=name,
        figures=[_curves(few, judged) for few in parts(judged.evaluators, _MOST)],
        caption=caption,
        columns=("evaluator", "arm", "editor", "runs", "damaged", "sound", "auc", "sound_refused", "damaged_refused"),
        rows=[
            (one.evaluator, one.arm, row.editor, row.runs, row.damaged, row.sound, row.auc.value, x, y)
            for one in judged.evaluators
            for row in one.editors
            for x, y in row.roc
        ],
    )


def _curves(few: Sequence[EvaluatorAnswer], judged: JudgedRuns) -> Figure:
    from matplotlib.lines import Line2D

    titles = [f"{_name(one)}\n{_auc(one)}" for one in few]
    figure, grid = panels(titles, 2.7 if len(few) == 1 else 1.8)
    single = [name for name in judged.editors if name != ALL_EDITORS]
    together = len(single) <= TOGETHER
    for axes, one in zip(grid, few, strict=True):
        _set_axes(axes)
        for row in one.editors:
            if not row.roc:
                continue
            x, y = zip(*row.roc, strict=True)
            if row.editor == ALL_EDITORS and not together:
                axes.plot(x, y, color=OWN, lw=1.6, zorder=3)
            elif row.editor != ALL_EDITORS and together:
                axes.plot(x, y, markevery=ceil(len(x) / 6), clip_on=False, **draw(single.index(row.editor)))
            elif row.editor != ALL_EDITORS:
                axes.plot(x, y, color=BACK, lw=0.6, zorder=2)
    key: list[tuple[Artist, str]] = [
        (Line2D([], [], **draw(place)), name_of(editor)) for place, editor in enumerate(single) if together
    ]
    if not together:
        key = [
            (Line2D([], [], color=OWN, lw=1.8), "mean of the editors"),
            (Line2D([], [], color=BACK, lw=0.8), "one editor"),
        ]
    key.append((Line2D([], [], color=INK, lw=0.7, linestyle=DASHED), "a coin"))
    surround(figure, _ABOVE, _BELOW, key, f"{judged.counts()} {judged.signs()}{judged.note()}")
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
    overall = answer.overall
    if overall is None or overall.auc.value is None:
        return "AUC not told"
    low, high = overall.auc.low, overall.auc.high
    return f"AUC {overall.auc.value:.2f}" + ("" if low is None or high is None else f" [{low:.2f}, {high:.2f}]")
