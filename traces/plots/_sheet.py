"""Panels on a sheet one or two columns wide, with words and a key around them that never run over its edge."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from turngate.traces.plots._text import SMALL, TEXT, fitted, line_height, lines_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

__all__ = ["ONE_COLUMN", "TWO_COLUMNS", "panels", "parts", "share_axis", "surround", "turn_axis"]

T = TypeVar("T")

ONE_COLUMN = 3.5
"""Inches."""
TWO_COLUMNS = 7.0
"""Inches."""

_EDGE = 0.05
_GAP = 0.06


def parts(items: Sequence[T], most: int) -> list[list[T]]:
    """`items` over as few figures as will do, `most` at most on each, as evenly as can be."""
    count = ceil(len(items) / most)
    size = ceil(len(items) / count) if count else 1
    return [list(items[start : start + size]) for start in range(0, len(items), size)]


def panels(titles: Sequence[str], high: float, columns: int = 0, shared: bool = True) -> tuple[Figure, list[Axes]]:
    """A panel of `high` inches per title: one fills a column, two stand side by side in it, more take two columns.

    The first line of a title may be broken, further ones are shortened. `columns` is the most side by side, chosen by
    the number of panels without it. Panels that share their axes tell the numbers at the edge of the sheet.
    """
    from matplotlib.figure import Figure

    count = len(titles)
    columns = min(count, columns or (3 if count in (5, 6, 9) else 4))
    wide = ONE_COLUMN if columns <= 2 else TWO_COLUMNS
    broken = [_title(title, wide / columns) for title in titles]
    rows = ceil(count / columns)
    high += line_height() * max(len(lines) for lines in broken)
    figure = Figure(figsize=(wide, rows * high), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=shared, sharey=shared, squeeze=False)
    found: list[Axes] = list(grid.flat)
    for axes, lines in zip(found, broken, strict=False):
        axes.set_title("\n".join(lines))
    for axes in found[count:]:
        axes.set_axis_off()
    for axes in found[max(0, count - columns) : count]:
        axes.xaxis.set_tick_params(labelbottom=True)
    return figure, found[:count]


def surround(
    figure: Figure, above: str = "", below: str = "", key: Sequence[tuple[Artist, str]] = (), note: str = ""
) -> None:
    """Words above and below the panels, the key and the note, on room that the sheet is given for them.

    `above` says what the vertical axis is: there a long sentence is read and not cut, beside a low panel it would be.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    wide, high = (float(inches) for inches in figure.get_size_inches())
    room = wide - 2 * _EDGE
    head, foot = (lines_of(text, room) if text else [] for text in (above, below))
    notes = lines_of(note, room, SMALL) if note else []
    legend = _legend(figure, key, room)
    key_high = _inches(figure, legend)[1] if legend is not None else 0.0
    blocks = (len(foot) * line_height(), key_high, len(notes) * line_height(SMALL))
    under = sum(block + _GAP for block in blocks if block) + (_EDGE if any(blocks) else 0.0)
    over = len(head) * line_height() + (_GAP if head else 0.0)
    whole = high + under + over
    figure.set_size_inches(wide, whole)
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=(0, under / whole, 1, high / whole)))
    if head:
        figure.text(_EDGE / wide, 1 - _EDGE / whole, "\n".join(head), va="top", fontsize=TEXT)
    top = under - _GAP / 2
    if foot:
        figure.text(0.5, top / whole, "\n".join(foot), va="top", ha="center", fontsize=TEXT)
        top -= blocks[0] + _GAP
    if legend is not None:
        legend.set_bbox_to_anchor((0.5, top / whole), figure.transFigure)
        top -= key_high + _GAP
    if notes:
        figure.text(_EDGE / wide, top / whole, "\n".join(notes), va="top", fontsize=SMALL)


def turn_axis(axes: Axes) -> None:
    """A horizontal axis of whole turns."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, steps=[1, 2, 5, 10]))


def share_axis(axes: Axes) -> None:
    """A vertical axis of shares, 0 to 100 %."""
    from matplotlib.ticker import FixedLocator, PercentFormatter

    axes.set_ylim(-0.04, 1.06)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _title(title: str, inches: float) -> list[str]:
    """Lines of the title of a panel this wide; numbers of the axis stand left of it."""
    first, *more = title.split("\n")
    room = inches - 0.5
    return [*lines_of(first, room, most=2), *(fitted(line, room) for line in more if line)]


def _legend(figure: Figure, key: Sequence[tuple[Artist, str]], room: float) -> Legend | None:
    """The key in as many columns as the sheet has room for."""
    if not key:
        return None
    handles = [handle for handle, _ in key]
    labels = [fitted(label, room - 0.45) for _, label in key]
    for columns in range(min(4, len(key)), 0, -1):
        legend: Any = figure.legend(handles, labels, loc="upper center", ncols=columns, fontsize=TEXT)
        legend.set_in_layout(False)
        if columns == 1 or _inches(figure, legend)[0] <= room:
            break
        legend.remove()
    found: Legend = legend
    return found


def _inches(figure: Figure, artist: Artist) -> tuple[float, float]:
    box = artist.get_window_extent()
    return float(box.width) / figure.dpi, float(box.height) / figure.dpi
