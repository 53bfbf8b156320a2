"""How every figure looks: small, for print, without colour as the only sign; and how it is saved, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from turngate.errors import MachineError, MissingExtra
from turngate.traces.report.arms import Arm
from turngate.traces.report.inert import clip, visible
from turngate.traces.report.looks import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "INK",
    "PlotFormat",
    "draw",
    "label_of",
    "legend",
    "name_of",
    "new_figure",
    "save",
    "share_axis",
    "style",
    "turn_axis",
]

PlotFormat = Literal["svg", "png", "pdf"]
FORMATS: tuple[PlotFormat, ...] = ("svg", "png", "pdf")

INK = "#1d1b18"
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
_RC: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "grid.color": "#e3dfd7",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    # Without these, two files of the same figure differ.
    "svg.hashsalt": "turngate",
    "pdf.fonttype": 42,
    # A dollar sign in a name is a dollar sign.
    "text.parse_math": False,
}
_NO_DATE = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}


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


def new_figure(wide: float = 3.5, high: float = 2.5) -> Figure:
    """An empty figure of so many inches, the width of a column by default."""
    from matplotlib.figure import Figure

    return Figure(figsize=(wide, high), layout="constrained")


def draw(look: Look, every: int = 1) -> dict[str, Any]:
    """A line in the look of an arm or evaluator, with a marker at every so many points."""
    colour = _COLOURS[int(look.colour.removeprefix("var(--arm-").rstrip(")")) - 1]
    return {
        "color": colour,
        "linestyle": _DASHES[look.dash],
        "marker": _MARKERS[look.symbol],
        "markevery": max(1, every),
    }


def name_of(text: str) -> str:
    """A name for a legend or a title: one line, nothing hidden."""
    return clip(visible(text).replace("\n", " "), 40)


def label_of(arm: Arm) -> str:
    """An arm in a legend; what was written by hand says so wherever it is shown."""
    return name_of(arm.name) + (" (simulated)" if arm.answer.simulated else "")


def turn_axis(axes: Axes, text: str = "turn") -> None:
    """A horizontal axis of whole turns."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(text)


def share_axis(axes: Axes, text: str) -> None:
    """A vertical axis of shares, 0 to 100 %."""
    from matplotlib.ticker import PercentFormatter

    axes.set_ylim(-0.04, 1.06)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel(text)


def legend(figure: Figure, axes: Axes, columns: int = 3) -> None:
    """The key beneath the figure, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, len(labels)))


def save(figure: Figure, path: Path, kind: PlotFormat) -> None:
    """Write the figure whole or not at all; raises `MachineError` when that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.part")
        figure.savefig(temporary, format=kind, metadata=_NO_DATE[kind])
        temporary.replace(path)
    except OSError as error:
        raise MachineError(
            f"cannot write {path}: {error.strerror or error}: free some space or choose another folder"
        ) from error
