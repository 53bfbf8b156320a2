"""How the lines of a study are told apart: colour, dashes and symbol say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Look"]

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
class Look:
    """The look of one arm or evaluator in every chart and key."""

    group: str
    """Name of its traces in all charts, so that a click on the key can hide them."""
    colour: str
    dash: str
    strokes: str
    """The dashes as SVG writes them."""
    symbol: str
    glyph: str

    @classmethod
    def of(cls, place: int, kind: str = "arm") -> Look:
        """The look of the one in this place, counted from 0."""
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
