"""How the damage episodes of each arm ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from turngate.errors import counted
from turngate.pages.plots._style import INK, TWO_COLUMNS, fitted, line_height, name_of, parts, surround
from turngate.pages.plots.plot import LeftOut, Plot, PlotArm, PlotData, control_words, label_of, runs_of, sample_words

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

__all__ = ["episodes_plot"]

_MOST = 40
_ROW = 0.17
_NAMES = 2.2
"""Inches at most for the names of the arms."""
# Light, middle and dark, with hatches: apart in grey as well.
_ENDS: dict[str, dict[str, Any]] = {
    "caught": {"facecolor": "#9cc3e0", "hatch": ""},
    "stalled": {"facecolor": "#f1ede4", "hatch": "//////"},
    "propagated": {"facecolor": "#b8440a", "hatch": ""},
}
_INKS = {"caught": INK, "stalled": INK, "propagated": "white"}
_WORDS = {
    "caught": "caught, and the loop went on",
    "stalled": "stalled: caught, nothing after",
    "propagated": "propagated",
}


def episodes_plot(data: PlotData) -> Plot | LeftOut:
    """A bar per arm, its damage episodes by how they ended."""
    name = f"episodes{data.suffix}"
    known = [arm for arm in data.arms if arm.answer.known_runs]
    if not known:
        return LeftOut(name, "no truth was measured")
    if not any(arm.answer.episodes.total for arm in known):
        return LeftOut(name, "no damage episode ended: no candidate made from a sound image was damaged")
    note = sample_words(runs_of(known), data.never_begun)
    open_ends = sum(arm.answer.episodes.open for arm in known)
    note += f" {counted(open_ends, 'episode')} not drawn: how it ended is not known." if open_ends else ""
    delays = "; ".join(f"{name_of(arm.name)} {_delay(arm)}" for arm in known if _delay(arm))
    caption = (
        "Damage episodes: all damaged candidates made from one sound image are one. It is propagated when a damaged "
        "candidate of it stands, caught when another image comes to stand, and stalled when its input stays to the "
        f"end. Counts over all runs of an arm, no intervals. {data.truth_words} Delay in turns from the first damaged "
        f"candidate to the turn that refused all of them, median (n), and episodes never detected: {delays}. "
        f"{control_words(known)}{note}"
    )
    return Plot(
        name=name,
        figures=[_bars(some, data.arms, known, f"{note} {data.truth_words}") for some in parts(known, _MOST)],
        caption=caption,
        columns=(
            "arm", "control", "runs", "episodes", "caught", "stalled", "propagated", "open", "delays", "median_delay",
            "never_detected",
        ),
        rows=[
            (
                arm.name, arm.control, arm.answer.known_runs, ends.total, ends.caught, ends.stalled, ends.propagated,
                ends.open, len(arm.answer.delays), arm.answer.delay, arm.answer.never_detected,
            )
            for arm in known
            for ends in [arm.answer.episodes]
        ],
    )  # fmt: skip


def _delay(arm: PlotArm) -> str:
    answer = arm.answer
    if not answer.episodes.total:
        return ""
    median = f"{answer.delay:g} (n = {len(answer.delays)})" if answer.delay is not None else "none"
    return f"{median}, never {answer.never_detected}"


def _bars(some: Sequence[PlotArm], arms: Sequence[PlotArm], known: Sequence[PlotArm], note: str) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    names = [fitted(label_of(arm, arms) + (" (control)" if arm.control else ""), _NAMES) for arm in some]
    figure = Figure(figsize=(TWO_COLUMNS, _ROW * len(some) + 0.25 + line_height()), layout="constrained")
    axes = figure.subplots()
    most = max(arm.answer.episodes.total for arm in known)
    for row, arm in enumerate(some):
        ends, left = arm.answer.episodes, 0
        for end, sign in _ENDS.items():
            number = getattr(ends, end)
            if not number:
                continue
            axes.barh([row], [number], left=left, height=0.74, edgecolor=INK, linewidth=0.5, **sign)
            box = (
                {"boxstyle": "square,pad=0.1", "facecolor": sign["facecolor"], "linewidth": 0}
                if sign["hatch"]
                else None
            )
            axes.text(
                left + number / 2, row, str(number), color=_INKS[end], ha="center", va="center_baseline", bbox=box
            )
            left += number
        axes.text(left + 0.008 * most, row, f" n = {ends.total}", va="center_baseline", ha="left")
    axes.set_yticks(range(len(some)), names)
    axes.set_ylim(len(some) - 0.4, -0.6)
    axes.set_xlim(0, most * 1.1)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    key: list[tuple[Artist, str]] = [
        (Patch(edgecolor=INK, linewidth=0.5, **sign), _WORDS[end]) for end, sign in _ENDS.items()
    ]
    surround(figure, "", "damage episodes, over all runs of the arm", key, note)
    return figure
