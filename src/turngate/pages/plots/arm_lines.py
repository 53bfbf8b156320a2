"""A line per arm: truth over turns, survival and delay; a few arms on one panel, many with a panel for each gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from turngate.pages.plots._style import (
    DASHED,
    INK,
    OWN,
    OWN_BAND,
    back,
    draw,
    name_of,
    panels,
    parts,
    share_axis,
    surround,
    turn_axis,
)
from turngate.pages.plots.plot import Plot, control_words, interval_words, label_of, limit_words, runs_of, sample_words
from turngate.pages.report.charts import Arm
from turngate.traces.analysis.study import caught_within, survival_points, thresholds_of, truth_curve

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["TOGETHER", "delay_plot", "survival_plot", "truth_plots"]


TOGETHER = 4
"""Most lines that are distinct on one panel, in grey as well."""
_MOST = 24
_BAND = "95 % interval over origins"


@dataclass(frozen=True)
class ArmLine:
    """The line of one arm."""

    arm: Arm
    x: Sequence[float]
    y: Sequence[float | None]
    """None breaks the line."""
    low: Sequence[float | None] = ()
    """Of its band, where it has one."""
    high: Sequence[float | None] = ()
    detail: str = ""
    """Text beside the arm's name."""

    @property
    def banded(self) -> bool:
        """Whether there is an interval anywhere."""
        return any(low is not None for low in self.low)

    @property
    def restless(self) -> bool:
        """It goes up and down so often that it hides what lies behind it, as under rollbacks."""
        known = [value for value in self.y[1:] if value is not None]
        spread = max(known, default=0.0) - min(known, default=0.0)
        # A mean of equal values may differ in its last digits.
        return spread > 1e-9 and sum(abs(b - a) for a, b in pairwise(known)) > 4 * spread


@dataclass(frozen=True)
class Around:
    """What is the same for all panels."""

    above: str
    """What the vertical axis is."""
    below: str
    """What the horizontal axis is."""
    note: str
    limits: Sequence[float] = ()
    """Thresholds of damaged."""
    limit_words: str = ""
    """What they are in the key."""
    span: tuple[float, float] | None = None
    """Of the vertical axis; a share, 0 to 100 %, without one."""
    steps: bool = False
    """The value holds until the next."""


def arm_line_figures(lines: Sequence[ArmLine], arms: Sequence[Arm], around: Around) -> list[Figure]:
    """Figures of these lines; `arms` are all arms of the study, so that its plots drawn alike."""
    if len(arms) <= TOGETHER and not any(line.restless for line in lines):
        return [_together(lines, arms, around)]
    own = [line for line in lines if not line.arm.answer.control]
    controls = [line for line in lines if line.arm.answer.control] if own else []
    return [_apart(some, controls, arms, around) for some in parts(own or lines, _MOST)]


def _together(lines: Sequence[ArmLine], arms: Sequence[Arm], around: Around) -> Figure:
    from matplotlib.patches import Patch

    figure, (axes,) = panels([""], 1.9)
    key: list[tuple[Artist, str]] = []
    for place, line in enumerate(lines):
        drawn = draw(line.arm.style)
        every = max(1, len(line.x) // 6)
        # Markers of lines that coincide are drawn beside each other.
        start = every * place // len(lines) if len(line.x) > every else 0
        if line.banded:
            axes.fill_between(line.x, _floats(line.low), _floats(line.high), color=drawn["color"], alpha=0.13, lw=0)
        (artist,) = axes.plot(line.x, _floats(line.y), drawstyle=_drawstyle(around), markevery=(start, every), **drawn)
        key.append((artist, _beside(line, arms)))
    key += _add_limits(axes, around)
    if any(line.banded for line in lines):
        key.append((Patch(color=INK, alpha=0.13, lw=0), _BAND))
    _set_axes(axes, around)
    surround(figure, around.above, around.below, key, around.note)
    return figure


def _apart(own: Sequence[ArmLine], controls: Sequence[ArmLine], arms: Sequence[Arm], around: Around) -> Figure:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    high = 1.9 if len(own) == 1 else 1.4 if len(own) <= 8 else 1.2 if len(own) <= 16 else 1.0
    titles = [f"{label_of(line.arm, arms)}\n{line.detail}" for line in own]
    figure, grid = panels(titles, high)
    # The dashes of a control are the same in all plots, whichever of them it is missing from.
    places = [arm.name for arm in arms if arm.answer.control]
    grey = {line.arm.name: back(places.index(line.arm.name)) for line in controls}
    key: list[tuple[Artist, str]] = [(Line2D([], [], color=OWN, lw=1.8), "the arm of the panel")]
    if any(line.banded for line in own):
        key.append((Patch(color=OWN_BAND, lw=0), f"its {_BAND}"))
    key += [(Line2D([], [], **grey[line.arm.name]), _beside(line, arms)) for line in controls]
    for axes, line in zip(grid, own, strict=True):
        if line.banded:
            axes.fill_between(line.x, _floats(line.low), _floats(line.high), color=OWN_BAND, lw=0, zorder=1)
        for other in controls:
            drawn = grey[other.arm.name]
            axes.plot(other.x, _floats(other.y), drawstyle=_drawstyle(around), zorder=2, **drawn)
        axes.plot(line.x, _floats(line.y), drawstyle=_drawstyle(around), zorder=3, color=OWN, lw=1.6)
        limits = _add_limits(axes, around)
        _set_axes(axes, around)
    surround(figure, around.above, around.below, [*key, *limits], around.note)
    return figure


def _beside(line: ArmLine, arms: Sequence[Arm]) -> str:
    return ", ".join(part for part in (label_of(line.arm, arms), line.detail) if part)


def _add_limits(axes: Axes, around: Around) -> list[tuple[Artist, str]]:
    lines = [axes.axhline(limit, color=INK, lw=0.7, linestyle=DASHED, zorder=1.5) for limit in around.limits]
    return [(lines[0], around.limit_words)] if lines else []


def _set_axes(axes: Axes, around: Around) -> None:
    turn_axis(axes)
    if around.span is None:
        share_axis(axes)
    else:
        axes.set_ylim(around.span)


def _drawstyle(around: Around) -> str:
    return "steps-post" if around.steps else "default"


def _floats(values: Sequence[float | None]) -> list[float]:
    """matplotlib breaks a line at NaN."""
    return [float("nan") if value is None else value for value in values]


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
    sentences = (
        sample_words(runs, missing),
        interval_words(runs),
        f"At {gaps} points of the lines a run has no value: the mean is that of the others." if gaps else "",
        "Unchanged images lie outside." if cut else "",
    )
    note = " ".join(part for part in sentences if part)
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

    An untouched image has an infinite PSNR, recorded as 80 dB: on that scale all the others may drawn alike.
    """
    moved = [v for line in lines if line.arm.answer.accepted_share.value for v in line.y[1:] if v is not None]
    every = [v for line in lines for band in (line.y, line.low, line.high) for v in band if v is not None]
    cut = bool(moved) and max(every) - min(every) > 2 * (max(moved) - min(moved)) > 0
    shown = [*(moved if cut else every), *limits]
    margin = 0.06 * (max(shown) - min(shown)) or 0.5
    return (min(shown) - margin, max(shown) + margin), cut


def _file_name(measure: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in measure)


# How long the runs of each arm stay sound, and how late damage is noticed: shares of runs over turns.


def survival_plot(arms: Sequence[Arm], missing: int) -> Plot | None:
    """Share of runs whose image was never damaged so far (Kaplan-Meier); `missing` runs were never begun."""
    known = [arm for arm in arms if arm.answer.soundness.runs]
    if not known:
        return None
    lines = []
    for arm in known:
        turns, shares = survival_points(arm.answer.soundness, max(run.stands[-1].turn for run in arm.runs))
        lines.append(ArmLine(arm, turns, shares))
    note = sample_words(runs_of(known), missing)
    caption = (
        "Kaplan-Meier estimate of the share of runs whose current image was never damaged so far "
        f"({limit_words(known)}). A run that stays sound is censored at its last turn; a rollback does not mend a run. "
        f"{control_words(known)}{note}"
    )
    return Plot(
        name="survival",
        figures=arm_line_figures(
            lines, arms, Around("Runs whose image was never damaged so far", "turn", note, steps=True)
        ),
        caption=caption,
        columns=("arm", "control", "runs", "censored", "turn", "share_sound"),
        rows=[
            (arm.name, arm.answer.control, arm.answer.soundness.runs, arm.answer.soundness.censored, turn, share)
            for arm, line in zip(known, lines, strict=True)
            for turn, share in zip(line.x, line.y, strict=True)
        ],
    )


def delay_plot(arms: Sequence[Arm], missing: int) -> Plot | None:
    """Of the runs that met damage, the share that had kept some out within n turns."""
    met = [arm for arm in arms if _met(arm)]
    if not met:
        return None
    last = max(delay for arm in met for delay in (0, *arm.answer.delays)) + 1
    lines = [
        ArmLine(arm, *caught_within(arm.answer, last), detail=f"{len(arm.answer.delays)} of {_met(arm)} runs")
        for arm in met
    ]
    spared = [name_of(arm.name) for arm in arms if not _met(arm)]
    caught = "; ".join(f"{name_of(line.arm.name)} {line.detail}" for line in lines)
    note = sample_words(runs_of(met), missing)
    note += f" No damaged candidate was met by: {', '.join(spared)}." if spared else ""
    caption = (
        "Detection delay: of the runs that met a damaged candidate, the share that had kept at least one out within n "
        f"turns of the first ({limit_words(met)}). A line that ends below 100 % never caught any in the rest. Runs "
        f"with a catch, of those that met damage: {caught}. "
        f"{control_words(met)}{note}"
    )
    above = "Runs that had kept some damage out, of those that met any"
    return Plot(
        name="delay",
        figures=arm_line_figures(
            lines, arms, Around(above, "turns after the first damaged candidate", note, steps=True)
        ),
        caption=caption,
        columns=("arm", "control", "runs_with_damage", "runs_without_catch", "turns", "share_caught"),
        rows=[
            (arm.name, arm.answer.control, _met(arm), arm.answer.never_detected, turns, share)
            for arm, line in zip(met, lines, strict=True)
            for turns, share in zip(line.x, line.y, strict=True)
        ],
    )


def _met(arm: Arm) -> int:
    """Runs with a damaged candidate."""
    return len(arm.answer.delays) + arm.answer.never_detected
