"""How every figure looks (small, for print, without colour as the only sign), its sheet and texts, and how it is
saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from turngate.errors import MachineError, MissingExtra
from turngate.pages.report import visible
from turngate.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

__all__ = [
    "BACK",
    "DASHED",
    "INK",
    "ONE_COLUMN",
    "OWN",
    "OWN_BAND",
    "SMALL",
    "TEXT",
    "TWO_COLUMNS",
    "PlotFormat",
    "back",
    "draw",
    "file_name",
    "fitted",
    "line_height",
    "name_of",
    "panels",
    "parts",
    "saved",
    "share_axis",
    "style",
    "surround",
    "turn_axis",
    "width_of",
]


PlotFormat = Literal["svg", "png", "pdf"]

INK = "#1d1b18"
OWN = "#0b4f8a"
"""The line that a panel is about: dark enough to stay the darkest in grey."""
OWN_BAND = "#ccdbe8"
"""Its interval; opaque, since some journals take no transparency."""
BACK = "#b4b0a8"
"""Lines that are only there to be held against."""
DASHED: Any = (0, (3, 2))

# The arms' colours of report.css in its light theme: distinct with every common form of colour blindness, and dark
# enough for print.
_COLOURS = ("#1d1b18", "#0b6cab", "#c25200", "#007a5a", "#a24a86", "#9a7200", "#3d8fc4", "#7d766c")
# Four, five and eight repeat at different steps, as on the page: the first forty differ even where colours do not.
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.6)), (0, (5, 1.6, 1.2, 1.6)))
_MARKERS = ("o", "s", "^", "D", "X")
# Controls behind a gate, in their order: grey, apart by their dashes. There are at most six of them.
_BACKS: tuple[tuple[str, Any, float], ...] = (
    ("#4a4843", "-", 0.9),
    ("#7c7972", (0, (1, 1.5)), 1.1),
    ("#7c7972", (0, (4, 1.5)), 1.1),
    ("#7c7972", (0, (5, 1.5, 1, 1.5)), 1.1),
    ("#9c9890", "-", 0.9),
    ("#7c7972", (0, (8, 2)), 1.1),
)
_RC: Any = {
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.titlelocation": "left",
    "axes.titlepad": 3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3dfd7",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "legend.columnspacing": 1.4,
    "legend.borderpad": 0,
    "legend.borderaxespad": 0,
    "figure.dpi": 300,
    # Letters stay letters: to be searched, and to be changed in a drawing program.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # Without it, two files of the same figure differ.
    "svg.hashsalt": "turngate",
    # A dollar sign in a name is a dollar sign.
    "text.parse_math": False,
}


@contextmanager
def style() -> Iterator[None]:
    """Figures within look alike; raises `MissingExtra` without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtra("plots need matplotlib: pip install 'turngate[plots]'") from None
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def draw(place: int) -> dict[str, Any]:
    """A line of the arm, evaluator or editor in this place: the first four differ in colour, dashes and marker."""
    return {
        "color": _COLOURS[place % len(_COLOURS)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "marker": _MARKERS[place % len(_MARKERS)],
    }


def back(place: int) -> dict[str, Any]:
    """A line of the control in this place, counted from 0."""
    colour, dashes, width = _BACKS[place % len(_BACKS)]
    return {"color": colour, "linestyle": dashes, "linewidth": width}


@contextmanager
def saved(path: Path) -> Iterator[Path]:
    """A temporary place that becomes `path`, whole or not at all; raises `MachineError` when that cannot be done."""
    try:
        with whole_file(path) as temporary:
            yield temporary
    except OSError as error:
        raise MachineError(
            f"cannot write {path}: {error.strerror or error}: free some space or choose another folder"
        ) from error


# Text that fits: measured in the font that it is drawn with, broken into lines or shortened in its middle.

TEXT = 7.0
"""Points of everything but the note."""
SMALL = 6.5
"""Points of the note beneath a figure; nothing is smaller."""

_BREAK_AFTER = " -_./:,;"
# Screen, print and PDF round the widths of letters differently.
_SLACK = 1.03
# The key stands in the middle: where a reader's machine draws wider letters it would be cut off at both sides.
_KEY_SLACK = 1.08


def name_of(text: str) -> str:
    """A name on one line with nothing hidden; a character that the font lacks is shown as its code point."""
    known = _letters()
    line = visible(text).replace("\n", " ").replace("\t", " ")
    return "".join(letter if ord(letter) in known else f"[U+{ord(letter):04X}]" for letter in line)


@cache
def _letters() -> frozenset[int]:
    """Code points that the font has."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties())).get_charmap())


def width_of(text: str, size: float = TEXT) -> float:
    """Width in inches of one line at `size` points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(width) / 72 * _SLACK


def line_height(size: float = TEXT) -> float:
    """Height in inches of a line among others."""
    return 1.25 * size / 72


def fitted(text: str, inches: float, size: float = TEXT) -> str:
    """`text`, or as much of its start and end as fits: names that differ in their last letters stay apart."""
    kept, shown = len(text), text
    while width_of(shown, size) > inches and kept > 1:
        kept -= 1
        shown = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
    return shown


def lines_of(text: str, inches: float, size: float = TEXT, most: int | None = None) -> list[str]:
    """`text` in lines that fit, at most `most` of them: what is too long for that is shortened in its middle."""
    lines = _broken(text, inches, size)
    kept = len(text)
    while most is not None and len(lines) > most and kept > 1:
        kept -= 1
        lines = _broken(f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}", inches, size)
    return lines


def _broken(text: str, inches: float, size: float) -> list[str]:
    lines, rest = [], text
    while width_of(rest, size) > inches:
        fits = max((n for n in range(1, len(rest)) if width_of(rest[:n].rstrip(), size) <= inches), default=1)
        at = max((n for n in range(1, fits + 1) if rest[n - 1] in _BREAK_AFTER), default=fits)
        lines.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
        if not rest:
            return lines
    return [*lines, rest]


# Panels on a sheet one or two columns wide, with words and a key around them that never run over its edge.

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
    """A panel of `high` inches per title: one fills a column, two lie side by side in it, more take two columns.

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
    """Lines of the title of a panel this wide; numbers of the axis are left of it."""
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
        if columns == 1 or _inches(figure, legend)[0] * _KEY_SLACK <= room:
            break
        legend.remove()
    found: Legend = legend
    return found


def _inches(figure: Figure, artist: Artist) -> tuple[float, float]:
    box = artist.get_window_extent()
    return float(box.width) / figure.dpi, float(box.height) / figure.dpi


def file_name(text: str) -> str:
    """Part of a file's name: letters, digits and `-_.` of ASCII, 40 at most."""
    return "".join(one if one.isascii() and (one.isalnum() or one in "-_.") else "-" for one in text)[:40]
