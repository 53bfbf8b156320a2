"""One alphabet for every picture of an attempt: shape and colour say the truth, filling says the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from turngate.traces.analysis.run.run_view import AttemptView
from turngate.traces.records import TruthRow

__all__ = ["Fate", "Mark", "Truth", "mark_of", "truth_of"]

Truth = Literal["sound", "damaged", "unknown", "none"]
"""`none`: there is no candidate."""

Fate = Literal["taken", "forced", "kept_out"]
"""`forced`: taken against the gate's verdict."""

_SYMBOLS = {"sound": "circle", "damaged": "triangle-up", "unknown": "square"}
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
class Mark:
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
        return _SYMBOLS.get(self.truth, "square") + ("-open" if self.fate == "kept_out" else "")

    @property
    def colour(self) -> str:
        """CSS variable of the marker's colour."""
        return f"var(--{self.truth})"


def truth_of(truth: TruthRow | None) -> Truth:
    """Whether an image is damaged, in one word."""
    if truth is None or truth.damaged is None:
        return "unknown"
    return "damaged" if truth.damaged else "sound"


def mark_of(attempt: AttemptView) -> Mark:
    """The mark of one attempt."""
    fate: Fate = "kept_out"
    if attempt.taken:
        fate = "forced" if attempt.decision.verdict == "reject" else "taken"
    if attempt.row.outcome == "no_image":
        return Mark("none", fate)
    return Mark(truth_of(attempt.truth), fate, attempt.row.outcome != "no_change")
