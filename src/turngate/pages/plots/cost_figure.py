"""What soundness costs, arm by arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from turngate.pages.plots._style import (
    INK,
    ONE_COLUMN,
    OWN,
    TWO_COLUMNS,
    fitted,
    line_height,
    parts,
    surround,
    width_of,
)
from turngate.pages.plots.plot import Plot, control_words, label_of, runs_of, sample_words
from turngate.pages.report.charts import Arm
from turngate.traces.analysis.study import CostPoint, cost_points

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["cost_plot"]

_MOST = 45
_ROW = 0.17
_NAMES = 2.6
"""Inches at most for the names of the arms."""


def cost_plot(arms: Sequence[Arm], missing: int) -> Plot | None:
    """New and sound images per turn beside the cost of a turn: a row per arm.

    A row and not a point on a plane: most arms call the editor once a turn and would lie on one spot.
    """
    unit, points = cost_points([arm.answer for arm in arms])
    if not points:
        return None
    known = [arm for arm in arms if arm.name in points]
    note = sample_words(runs_of(known), missing)
    squares = "Hollow squares are control arms. " if control_words(known) else ""
    return Plot(
        name="cost",
        figures=[_rows(some, arms, points, unit, note) for some in parts(known, _MOST)],
        caption=f"New and sound images per turn, and {unit} per turn, over all runs of an arm. {squares}{note}",
        columns=("arm", "control", "runs", "unit", "cost_per_turn", "sound_images_per_turn"),
        rows=[
            (arm.name, arm.answer.control, len(arm.runs), unit, points[arm.name].cost, points[arm.name].sound)
            for arm in known
        ],
    )


def _rows(some: Sequence[Arm], arms: Sequence[Arm], points: dict[str, CostPoint], unit: str, note: str) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter

    names = [fitted(label_of(arm, arms), _NAMES) for arm in some]
    wide = ONE_COLUMN if max(width_of(name) for name in names) <= 1.2 else TWO_COLUMNS
    figure = Figure(figsize=(wide, _ROW * len(some) + 0.35 + 2 * line_height()), layout="constrained")
    sound, cost = figure.subplots(1, 2, sharey=True)
    _add_points(sound, some, [points[arm.name].sound for arm in some])
    _add_points(cost, some, [points[arm.name].cost for arm in some])
    sound.set_yticks(range(len(some)), names)
    sound.set_ylim(len(some) - 0.4, -0.6)
    sound.set_xlim(0, 1.06)
    sound.xaxis.set_major_formatter(PercentFormatter(1.0))
    sound.xaxis.set_major_locator(FixedLocator([0, 0.5, 1]))
    cost.set_xlim(0, max(point.cost for point in points.values()) * 1.08 or 1)
    cost.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))
    sound.set_title("new sound images\nper turn")
    cost.set_title(f"{unit}\nper turn")
    surround(figure, key=_key(some), note=note)
    return figure


def _add_points(axes: Axes, some: Sequence[Arm], values: Sequence[float]) -> None:
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    for row, (arm, value) in enumerate(zip(some, values, strict=True)):
        axes.plot([0, value], [row, row], color="#c9c4ba", lw=0.8, zorder=1)
        axes.plot([value], [row], clip_on=False, linestyle="none", **_sign(arm.answer.control))


def _sign(control: bool) -> dict[str, Any]:
    if control:
        return {"marker": "s", "color": INK, "markerfacecolor": "white"}
    return {"marker": "o", "color": OWN}


def _key(some: Sequence[Arm]) -> list[tuple[Artist, str]]:
    from matplotlib.lines import Line2D

    if len({arm.answer.control for arm in some}) < 2:
        return []
    return [
        (Line2D([], [], linestyle="none", **_sign(control)), word)
        for control, word in ((False, "gate"), (True, "control arm"))
    ]
