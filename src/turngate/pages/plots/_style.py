"""How every figure looks: small, for print, without colour as the only sign; and how it is saved, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from turngate.errors import MachineError, MissingExtra
from turngate.pages.report.charts.looks import Look

__all__ = ["BACK", "DASHED", "INK", "OWN", "OWN_BAND", "PlotFormat", "back", "draw", "saved", "style"]

PlotFormat = Literal["svg", "png", "pdf"]

INK = "#1d1b18"
OWN = "#0b4f8a"
"""The line that a panel is about: dark enough to stay the darkest in grey."""
OWN_BAND = "#ccdbe8"
"""Its interval; opaque, since some journals take no transparency."""
BACK = "#b4b0a8"
"""Lines that are only there to be held against."""
DASHED: Any = (0, (3, 2))

# The arms' colours of report.css in its light theme: told apart with every common form of colour blindness, and dark
# enough for print.
_COLOURS = ("#1d1b18", "#0b6cab", "#c25200", "#007a5a", "#a24a86", "#9a7200", "#3d8fc4", "#7d766c")
_DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1.2, 1.6)),
    "dashdot": (0, (5, 1.6, 1.2, 1.6)),
}
_MARKERS = {"circle": "o", "square": "s", "triangle-up": "^", "diamond": "D", "x": "X"}
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


def draw(look: Look) -> dict[str, Any]:
    """A line in the look of an arm or evaluator: the first four differ in colour, dashes and marker."""
    colour = _COLOURS[int(look.colour.removeprefix("var(--arm-").rstrip(")")) - 1]
    return {"color": colour, "linestyle": _DASHES[look.dash], "marker": _MARKERS[look.symbol]}


def back(place: int) -> dict[str, Any]:
    """A line of the control in this place, counted from 0."""
    colour, dashes, width = _BACKS[place % len(_BACKS)]
    return {"color": colour, "linestyle": dashes, "linewidth": width}


@contextmanager
def saved(path: Path) -> Iterator[Path]:
    """A temporary place that becomes `path`, whole or not at all; raises `MachineError` when that cannot be done."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise MachineError(
            f"cannot write {path}: {error.strerror or error}: free some space or choose another folder"
        ) from error
