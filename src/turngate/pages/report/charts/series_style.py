"""Style of the lines of a study: colour, dashes and symbol say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from turngate.traces.analysis.run import AttemptView
from turngate.traces.records import TruthRow

__all__ = ["Marker", "SeriesStyle", "Truth", "marker_of", "truth_of"]


# Plotly's dash, the same for SVG, and its symbol with the name of the glyph that looks like it. Four, eight and five
# repeat at different steps, so that the first forty arms differ even where their colours do not.
_DASHES = (("solid", ""), ("dash", "7 4"), ("dot", "2 3"), ("dashdot", "7 3 2 3"))
_SYMBOLS = (
    ("circle", "sound"),
    ("square", "unknown"),
    ("triangle-up", "damaged"),
    ("diamond", "unscored"),
    ("x", "failed"),
)
_COLOURS = 8


@dataclass(frozen=True)
class SeriesStyle:
    """The style of one arm or evaluator in every chart and key."""

    group: str
    """Name of its traces in all charts, so that a click on the key can hide them."""
    colour: str
    dash: str
    strokes: str
    """The dashes as SVG writes them."""
    symbol: str
    glyph: str

    @classmethod
    def of(cls, place: int, kind: str = "arm") -> SeriesStyle:
        """The style of the one in this place, counted from 0."""
        dash, strokes = _DASHES[place % len(_DASHES)]
        symbol, glyph = _SYMBOLS[place % len(_SYMBOLS)]
        return cls(f"{kind}-{place}", f"var(--arm-{place % _COLOURS + 1})", dash, strokes, symbol, glyph)

    def line(self, **more: Any) -> dict[str, Any]:
        """As Plotly's `line`."""
        return {"color": self.colour, "dash": self.dash, "width": 2, **more}

    def marker(self, size: float = 7, **more: Any) -> dict[str, Any]:
        """As Plotly's `marker`."""
        return {"symbol": self.symbol, "size": size, "color": self.colour, **more}

    def pale(self, alpha: float) -> str:
        """Its colour, let through; `charts.js` mixes it."""
        return f"{self.colour}/{alpha:g}"


# One alphabet for every picture of an attempt: shape and colour say the truth, filling says the decision.

Truth = Literal["sound", "damaged", "unknown", "none"]
"""`none`: there is no candidate."""

Fate = Literal["taken", "forced", "kept_out"]
"""`forced`: taken against the gate's verdict."""

_SHAPES = {"sound": "circle", "damaged": "triangle-up", "unknown": "square"}
_KNOWN = {
    ("damaged", "taken"): "propagated",
    ("damaged", "forced"): "propagated, forced",
    ("damaged", "kept_out"): "caught",
    ("sound", "taken"): "passed",
    ("sound", "forced"): "passed, forced",
    ("sound", "kept_out"): "false alarm",
}
_FATES = {"taken": "accepted", "forced": "forced in", "kept_out": "rejected"}


@dataclass(frozen=True)
class Marker:
    """How an attempt is drawn in the timeline, the filmstrip and the charts."""

    truth: Truth
    fate: Fate
    changed: bool = True
    """False when the editor returned its input."""

    @property
    def word(self) -> str:
        """What happened, in the words of the field."""
        if self.truth == "none":
            return "no image"
        if not self.changed:
            return "no change"
        return _KNOWN.get((self.truth, self.fate), "truth unknown")

    @property
    def words(self) -> str:
        """The decision and what it meant."""
        return f"{_FATES[self.fate]}: {self.word}"

    @property
    def symbol(self) -> str:
        """Plotly's name of the marker."""
        return _SHAPES.get(self.truth, "square") + ("-open" if self.fate == "kept_out" else "")

    @property
    def colour(self) -> str:
        """CSS variable of the marker's colour."""
        return f"var(--{self.truth})"


def truth_of(truth: TruthRow | None) -> Truth:
    """Whether an image is damaged, in one word."""
    if truth is None or truth.damaged is None:
        return "unknown"
    return "damaged" if truth.damaged else "sound"


def marker_of(attempt: AttemptView) -> Marker:
    """The marker of one attempt."""
    fate: Fate = "kept_out"
    if attempt.taken:
        fate = "forced" if attempt.decision.verdict == "reject" else "taken"
    if attempt.row.outcome == "no_image":
        return Marker("none", fate)
    return Marker(truth_of(attempt.truth), fate, attempt.row.outcome != "no_change")
