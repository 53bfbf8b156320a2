"""A line per arm over turns: a few arms on one panel, many with a panel for each gate."""

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
    panels,
    parts,
    share_axis,
    surround,
    turn_axis,
)
from turngate.pages.plots.plot import PlotArm, label_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["TOGETHER", "ArmLine", "Around", "arm_line_figures"]

TOGETHER = 4
"""Most lines that are distinct on one panel, in grey as well."""
_MOST = 24
_BAND = "range over runs"


@dataclass(frozen=True)
class ArmLine:
    """The line of one arm."""

    arm: PlotArm
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
        """Whether it has a band anywhere."""
        return any(low is not None for low in self.low)

    @property
    def restless(self) -> bool:
        """It goes up and down so often that it hides what lies behind it, as under rollbacks."""
        known = [value for value in self.y[1:] if value is not None]
        spread = max(known, default=0.0) - min(known, default=0.0)
        # A median of equal values may differ in its last digits.
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


def arm_line_figures(lines: Sequence[ArmLine], arms: Sequence[PlotArm], around: Around) -> list[Figure]:
    """Figures of these lines; `arms` are all arms of the study, so that its plots look alike."""
    if len(arms) <= TOGETHER and not any(line.restless for line in lines):
        return [_together(lines, arms, around)]
    own = [line for line in lines if not line.arm.control]
    controls = [line for line in lines if line.arm.control] if own else []
    return [_apart(some, controls, arms, around) for some in parts(own or lines, _MOST)]


def _together(lines: Sequence[ArmLine], arms: Sequence[PlotArm], around: Around) -> Figure:
    from matplotlib.patches import Patch

    figure, (axes,) = panels([""], 1.9)
    key: list[tuple[Artist, str]] = []
    for place, line in enumerate(lines):
        drawn = draw(line.arm.place)
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


def _apart(own: Sequence[ArmLine], controls: Sequence[ArmLine], arms: Sequence[PlotArm], around: Around) -> Figure:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    high = 1.9 if len(own) == 1 else 1.4 if len(own) <= 8 else 1.2 if len(own) <= 16 else 1.0
    titles = [f"{label_of(line.arm, arms)}\n{line.detail}" for line in own]
    figure, grid = panels(titles, high)
    # The dashes of a control are the same in all plots, whichever of them it is missing from.
    places = [arm.name for arm in arms if arm.control]
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


def _beside(line: ArmLine, arms: Sequence[PlotArm]) -> str:
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
