"""Style of the lines of a study: colour, dashes and symbol say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from turngate.traces.analysis.run import AttemptView
from turngate.traces.analysis.statistics import how_simulated
from turngate.traces.analysis.study import ArmAnswer, ArmDifference, EvaluatorAnswer, LoadedRun, TruthAnswer
from turngate.traces.records import TruthRow

__all__ = [
    "Arm",
    "EvaluatorSeries",
    "Marker",
    "SeriesStyle",
    "Truth",
    "arms_of",
    "evaluator_series",
    "marker_of",
    "truth_of",
]


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


# The arms and evaluators of a study as its page shows them.


@dataclass(frozen=True)
class Arm:
    """One arm with its runs and its numbers."""

    name: str
    number: int
    """1-based, in the order of the plan: what charts call it that have no room for names."""
    style: SeriesStyle
    gate: str
    """The gate in one line."""
    answer: ArmAnswer
    pair: ArmDifference | None
    """None for the arm that others are held against, and without a truth."""
    runs: list[LoadedRun]

    @property
    def simulated(self) -> str:
        """`simulated` when all its runs are, `partly simulated` when some are, else empty."""
        return how_simulated(self.answer.simulated_runs, self.answer.runs)


def arms_of(answer: TruthAnswer, runs: Sequence[LoadedRun]) -> list[Arm]:
    """Every arm of the answer, in its order. An arm has one style and one number by whatever truth it is seen."""
    pairs = {pair.arm: pair for pair in answer.pairs}
    arms = []
    places = list(dict.fromkeys(run.run.arm for run in runs))
    for numbers in answer.arms:
        mine, place = [run for run in runs if run.run.arm == numbers.arm], places.index(numbers.arm)
        style, pair = SeriesStyle.of(place), pairs.get(numbers.arm)
        arms.append(Arm(numbers.arm, place + 1, style, mine[0].gate, numbers, pair, mine))
    return arms


@dataclass(frozen=True)
class EvaluatorSeries:
    """One evaluator with its style and its numbers."""

    style: SeriesStyle
    answer: EvaluatorAnswer

    def misses(self, step: int) -> int | None:
        """Runs in which the score at `step` is not worse than at turn 1; None when there was none to look at."""
        gap = self.answer.gap
        return sum(not delta < 0 for delta in gap.deltas[step]) if gap.runs else None


def evaluator_series(answers: Sequence[EvaluatorAnswer]) -> list[EvaluatorSeries]:
    """Every evaluator of the study."""
    return [EvaluatorSeries(SeriesStyle.of(place, "evaluator"), answer) for place, answer in enumerate(answers)]
