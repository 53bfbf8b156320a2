"""Every arm on the plane of the two axes: damage exposure across, sound progress up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from turngate.pages.plots._style import DASHED, INK, ONE_COLUMN, OWN, TWO_COLUMNS, fitted, name_of, surround
from turngate.pages.plots.labels import LabelBox, gathered, place_labels
from turngate.pages.plots.plot import (
    LeftOut,
    Plot,
    PlotArm,
    PlotData,
    control_words,
    interval_words,
    label_of,
    runs_of,
    sample_words,
)
from turngate.traces.analysis.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["equal_calls_plot", "plane_plot"]

_NAMES = 1.9
"""Inches at most for the name of an arm on the plane."""
_FEW = 4
"""Most arms on a sheet one column wide."""
_MOST_NAMED = 8
"""Most names on one spot; more get numbers and a key."""

_TURNS = "planned turns"

_Axis = Callable[[PlotArm], Estimate]


def plane_plot(data: PlotData) -> Plot | LeftOut:
    """Damage exposure and sound progress of every arm, per planned turns."""
    name = f"plane{data.suffix}"
    return _plane(name, data, lambda arm: arm.answer.exposure, lambda arm: arm.answer.progress, _TURNS)


def equal_calls_plot(data: PlotData) -> Plot | LeftOut:
    """The same over as many editor calls as turns were planned; left out where every arm calls once a turn."""
    name = f"plane-equal-calls{data.suffix}"
    alike = all(
        (arm.answer.exposure, arm.answer.progress) == (arm.answer.equal_calls_exposure, arm.answer.equal_calls_progress)
        for arm in data.arms
    )
    if alike and any(arm.answer.known_runs for arm in data.arms):
        return LeftOut(name, f"equal turns are equal calls in every arm: the same as plane{data.suffix}")
    return _plane(
        name,
        data,
        lambda arm: arm.answer.equal_calls_exposure,
        lambda arm: arm.answer.equal_calls_progress,
        "editor calls",
    )


def _plane(name: str, data: PlotData, exposure: _Axis, progress: _Axis, per: str) -> Plot | LeftOut:
    known = [arm for arm in data.arms if exposure(arm).value is not None and progress(arm).value is not None]
    if not known:
        return LeftOut(name, "no truth was measured")
    points = [(_percent(exposure(arm)), progress(arm)) for arm in known]
    runs = runs_of(known)
    unknown = [name_of(arm.name) for arm in data.arms if arm not in known]
    note = sample_words(runs, data.never_begun)
    note += f" No truth is known of: {', '.join(unknown)}." if unknown else ""
    equal = "" if per == _TURNS else "Both over as many editor calls as turns were planned. "
    told = f"{equal}{data.truth_words} {interval_words(runs)}"
    beside = f"{note} {told}"
    figure = _figure(known, data.arms, points, beside, per) or _numbered(known, data.arms, points, beside, per)
    unbeaten = ", ".join(map(name_of, data.truth.unbeaten)) or "none"
    controls = control_words(known)
    caption = (
        f"Sound progress (turns that brought a new and sound image, per 100 {per}) over damage exposure (share of "
        f"{per} after which a damaged image stands); means over origins. The two add up to 100 at most (dashed). "
        f"{told} {'Hollow squares: c' + controls[1:] if controls else ''}"
        f"Over planned turns no other own arm is as good on both axes and better on one than: {unbeaten}. {note}"
    )
    return Plot(
        name=name,
        figures=[figure],
        caption=caption,
        columns=(
            "arm", "control", "runs", "origins", "origin", "exposure_percent", "exposure_low", "exposure_high",
            "progress_per_100", "progress_low", "progress_high",
        ),
        rows=[
            (arm.name, arm.control, arm.answer.known_runs, across.clusters, *values)
            for arm, (across, up) in zip(known, points, strict=True)
            for values in _rows(across, up)
        ],
    )  # fmt: skip


def _rows(across: Estimate, up: Estimate) -> list[tuple[str | float | None, ...]]:
    """The mean, then each origin's own value where there is no interval."""
    own = [
        (origin, across.by_origin.get(origin), None, None, value, None, None) for origin, value in up.by_origin.items()
    ]
    return [(None, across.value, across.low, across.high, up.value, up.low, up.high), *own]


def _percent(share: Estimate) -> Estimate:
    """A share as percent."""
    ends = {name: 100 * number for name in ("value", "low", "high") if (number := getattr(share, name)) is not None}
    return share.model_copy(
        update={**ends, "by_origin": {origin: 100 * number for origin, number in share.by_origin.items()}}
    )


def _figure(
    known: Sequence[PlotArm],
    arms: Sequence[PlotArm],
    points: Sequence[tuple[Estimate, Estimate]],
    note: str,
    per: str,
) -> Figure | None:
    """The plane with names beside the points; None when one finds no room."""
    figure, axes, taken = _sheet(known, points, note, per, _kinds(known))
    places, groups = _gathered(axes, points)
    texts = []
    for group in groups:
        mixed = len({known[number].control for number in group}) > 1
        names = [
            fitted(label_of(known[number], arms), _NAMES) + (" (control)" if mixed and known[number].control else "")
            for number in group
        ]
        if len(names) > _MOST_NAMED:
            return None
        texts.append("\n".join(names))
    middles = [places[group[0]] for group in groups]
    # Rather clear of the lines; where that is not possible, across them.
    lines = _lines(axes, points)
    return figure if any(place_labels(axes, middles, texts, taken, clear) for clear in (lines, ())) else None


def _numbered(
    known: Sequence[PlotArm],
    arms: Sequence[PlotArm],
    points: Sequence[tuple[Estimate, Estimate]],
    note: str,
    per: str,
) -> Figure:
    """The plane with numbers beside the points, and the names in the key."""
    from matplotlib.lines import Line2D

    key: list[tuple[Artist, str]] = [
        (Line2D([], [], linestyle="none", **_sign(arm.control)), f"{number} {label_of(arm, arms)}")
        for number, arm in enumerate(known, 1)
    ]
    figure, axes, taken = _sheet(known, points, note, per, key)
    places, groups = _gathered(axes, points)
    texts = [_numbers([number + 1 for number in group]) for group in groups]
    place_labels(axes, [places[group[0]] for group in groups], texts, taken)
    return figure


def _kinds(known: Sequence[PlotArm]) -> list[tuple[Artist, str]]:
    from matplotlib.lines import Line2D

    if len({arm.control for arm in known}) < 2:
        return []
    return [
        (Line2D([], [], linestyle="none", **_sign(control)), word)
        for control, word in ((False, "arm"), (True, "control arm"))
    ]


def _sheet(
    known: Sequence[PlotArm],
    points: Sequence[tuple[Estimate, Estimate]],
    note: str,
    per: str,
    key: Sequence[tuple[Artist, str]],
) -> tuple[Figure, Axes, list[LabelBox]]:
    """The plane without names, its layout settled, and the boxes of the words in its corners."""
    from matplotlib.figure import Figure

    few = len(known) <= _FEW
    figure = Figure(figsize=(ONE_COLUMN, 2.5) if few else (TWO_COLUMNS, 3.7), layout="constrained")
    axes = figure.subplots()
    words = _set_axes(axes, points)
    for arm, (across, up) in zip(known, points, strict=True):
        sign = _sign(arm.control)
        x, y = [across.value or 0.0], [up.value or 0.0]
        if across.low is not None and across.high is not None and up.low is not None and up.high is not None:
            axes.plot([across.low, across.high], y * 2, color=sign["color"], lw=0.7, zorder=2)
            axes.plot(x * 2, [up.low, up.high], color=sign["color"], lw=0.7, zorder=2)
        axes.plot(x, y, linestyle="none", zorder=3, clip_on=False, **sign)
    surround(figure, f"Sound progress: new sound images per 100 {per}", f"damage exposure: % of {per}", key, note)
    figure.draw_without_rendering()
    dpi = float(figure.dpi)
    extents = [word.get_window_extent() for word in words]
    return figure, axes, [LabelBox(e.x0 / dpi, e.y0 / dpi, e.x1 / dpi, e.y1 / dpi) for e in extents]


def _gathered(
    axes: Axes, points: Sequence[tuple[Estimate, Estimate]]
) -> tuple[list[tuple[float, float]], list[list[int]]]:
    """Where the points lie, in the units of the axes, and which of them lie on one spot."""
    places = [(across.value or 0.0, up.value or 0.0) for across, up in points]
    dpi = float(axes.figure.dpi)
    return places, gathered([(float(x) / dpi, float(y) / dpi) for x, y in axes.transData.transform(places)])


def _lines(
    axes: Axes, points: Sequence[tuple[Estimate, Estimate]]
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """What is drawn as a line across the plane, in its units: the bound, the line at 0, intervals."""
    (left, right), highest = axes.get_xlim(), axes.get_ylim()[1]
    found = [((100 - highest, highest), (100.0, 0.0)), ((left, 0.0), (right, 0.0))]
    for across, up in points:
        x, y = across.value or 0.0, up.value or 0.0
        if across.low is not None and across.high is not None:
            found.append(((across.low, y), (across.high, y)))
        if up.low is not None and up.high is not None:
            found.append(((x, up.low), (x, up.high)))
    return found


def _numbers(numbers: Sequence[int]) -> str:
    """`1-3, 5`, three to a line."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ",\n".join(", ".join(words[start : start + 3]) for start in range(0, len(words), 3))


def _set_axes(axes: Axes, points: Sequence[tuple[Estimate, Estimate]]) -> list[Any]:
    """Ranges and ticks, the bound of both axes, and the words in the corners, which are returned."""
    from matplotlib.ticker import FixedLocator

    highest = max(value for _, up in points for value in (up.value, up.high) if value is not None)
    top = min(100.0, max(10.0, 10 * ceil(1.15 * highest / 10)))
    # A strip below 0 and above the top for the words.
    axes.set_ylim(-0.1 * top, 1.1 * top)
    axes.set_xlim(-3, 103)
    step = next(one for one in (2, 5, 10, 20, 25) if top / one <= 6)
    axes.yaxis.set_major_locator(FixedLocator([step * n for n in range(floor(top / step) + 1)]))
    axes.xaxis.set_major_locator(FixedLocator([0, 20, 40, 60, 80, 100]))
    axes.plot([100 - 1.1 * top, 100], [1.1 * top, 0], color=INK, lw=0.6, linestyle=DASHED, zorder=1.2)
    axes.axhline(0, color=INK, lw=0.4, zorder=1.1)
    style: Any = {"transform": axes.transAxes, "style": "italic", "color": "#6b665e"}
    return [
        axes.text(0.015, 0.985, "goes on, sound", va="top", ha="left", **style),
        axes.text(0.015, 0.015, "stalls", va="bottom", ha="left", **style),
        axes.text(0.985, 0.015, "propagates", va="bottom", ha="right", **style),
    ]


def _sign(control: bool) -> dict[str, Any]:
    if control:
        return {"marker": "s", "color": INK, "markerfacecolor": "none", "markersize": 5.4}
    return {"marker": "o", "color": OWN}
