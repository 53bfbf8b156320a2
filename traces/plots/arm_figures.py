"""The arms of a study: soundness, truth, delay and cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turngate.traces.plots._style import INK, draw, label_of, legend, name_of, new_figure, share_axis, turn_axis
from turngate.traces.report.answer_points import caught_within, cost_points, survival_points, thresholds_of
from turngate.traces.report.arms import Arm
from turngate.traces.report.curves import truth_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["cost_figure", "delay_figure", "survival_figure", "truth_figure"]


def truth_figure(arms: Sequence[Arm]) -> Figure | None:
    """Truth of the current image over turns, mean over runs, with the 95 % interval over origins as a band."""
    measured = [arm for arm in arms if any(run.summary.truth is not None for run in arm.runs)]
    if not measured:
        return None
    figure = new_figure(3.5, 2.8)
    axes = figure.subplots()
    curves = [(arm, truth_curve(arm.runs)) for arm in measured]
    for arm, curve in curves:
        look = draw(arm.look, (curve.turns[-1] + 5) // 6)
        axes.plot(curve.turns, _floats(curve.values), label=label_of(arm), **look)
        if any(low is not None for low in curve.low):
            axes.fill_between(
                curve.turns, _floats(curve.low), _floats(curve.high), color=look["color"], alpha=0.12, linewidth=0
            )
    for limit in thresholds_of([run for arm in measured for run in arm.runs]):
        axes.axhline(limit, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
        axes.annotate(
            f"damaged at {limit:g}", (1, limit), xycoords=("axes fraction", "data"), fontsize=7, ha="right",
            va="bottom", xytext=(0, 1), textcoords="offset points",
        )  # fmt: skip
    measure = ", ".join(sorted({_measure(arm) for arm in measured}))
    better = measured[0].runs[0].truth_direction
    turn_axis(axes)
    axes.set_ylabel(f"truth: {name_of(measure)} ({better} is better)")
    # An untouched image has an infinite PSNR, recorded as 80 dB: on that scale all the others look alike.
    moved = [v for arm, curve in curves if arm.answer.accepted_share.value for v in curve.values[1:] if v is not None]
    every = [v for _, curve in curves for v in curve.values if v is not None]
    if moved and max(every) - min(every) > 2 * (max(moved) - min(moved)) > 0:
        low, high = min(*moved, *thresholds_of(measured[0].runs)), max(moved)
        axes.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))
        axes.set_title("unchanged images lie outside", fontsize=7, loc="left")
    legend(figure, axes)
    return figure


def survival_figure(arms: Sequence[Arm]) -> Figure | None:
    """Share of runs whose image was never damaged so far (Kaplan-Meier)."""
    known = [arm for arm in arms if arm.answer.soundness.runs]
    if not known:
        return None
    figure = new_figure(3.5, 2.8)
    axes = figure.subplots()
    for arm in known:
        turns, shares = survival_points(arm.answer.soundness, max(run.stands[-1].turn for run in arm.runs))
        axes.plot(turns, shares, drawstyle="steps-post", label=label_of(arm), **draw(arm.look))
    turn_axis(axes)
    share_axis(axes, "runs still sound")
    legend(figure, axes)
    return figure


def delay_figure(arms: Sequence[Arm]) -> Figure | None:
    """Of the runs that met damage, the share that had kept some out within n turns."""
    met = [arm for arm in arms if arm.answer.delays or arm.answer.never_detected]
    if not met:
        return None
    last = max([1, *(delay for arm in met for delay in arm.answer.delays)])
    figure = new_figure(3.5, 2.8)
    axes = figure.subplots()
    for arm in met:
        turns, shares = caught_within(arm.answer, last)
        axes.plot(
            turns, shares, drawstyle="steps-post", label=label_of(arm), **draw(arm.look, (last + 5) // 6)
        )  # fmt: skip
    turn_axis(axes, "turns after the first damaged candidate")
    share_axis(axes, "runs with a catch")
    legend(figure, axes)
    return figure


def cost_figure(arms: Sequence[Arm]) -> Figure | None:
    """New and sound images per turn against the cost of a turn."""
    unit, points = cost_points([arm.answer for arm in arms])
    if not points:
        return None
    figure = new_figure(3.5, 2.8)
    axes = figure.subplots()
    for arm in arms:
        if arm.name in points:
            point = points[arm.name]
            look = {**draw(arm.look), "linestyle": "none", "markersize": 6}
            axes.plot([point.cost], [point.sound], label=label_of(arm), **look)
    axes.set_xlim(0, max(point.cost for point in points.values()) * 1.12 or 1)
    axes.set_xlabel(f"{unit} per turn")
    share_axis(axes, "new sound images per turn")
    legend(figure, axes)
    return figure


def _measure(arm: Arm) -> str:
    return next(stand.truth.measure for run in arm.runs for stand in run.stands if stand.truth is not None)


def _floats(values: Sequence[float | None]) -> list[float]:
    """matplotlib breaks a line at NaN."""
    return [float("nan") if value is None else value for value in values]
