"""Thresholds on one evaluator: absolute, relative to another image, or by a verdict in words."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from turngate.agent.gate import CalibratedConfig, Decision, Past, Reading, Readings
from turngate.component import ComponentConfig, Direction
from turngate.errors import ConfigError, one_line

__all__ = ["LabelGate", "Relative", "RelativeConfig", "Threshold", "ThresholdConfig"]


class ThresholdConfig(CalibratedConfig):
    """Accept while the score is at least as good as `at`, or lies within `min` and `max`."""

    evaluator: str
    """Name of the evaluator in the run."""
    at: float | None = None
    """Worst value that is still accepted, in the evaluator's unit; which way is better comes from its facts."""
    min: float | None = None
    """Instead of `at`: smallest value that is accepted, in the evaluator's unit, whichever way is better."""
    max: float | None = None
    """Instead of `at`: largest value that is accepted, in the evaluator's unit, whichever way is better."""

    @model_validator(mode="after")
    def _says_where(self) -> ThresholdConfig:
        bounded = self.min is not None or self.max is not None
        if self.at is None and not bounded:
            raise ConfigError("at: is missing: give the worst value that is accepted, or `min`, `max` or both")
        if self.at is not None and bounded:
            raise ConfigError("at: give it, or `min` and `max`, not both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ConfigError("min: is above max, so nothing is accepted")
        return self

    def bounds(self, direction: Direction) -> tuple[float, float]:
        """Lowest and highest value that is accepted when `direction` is better; infinite where there is none."""
        if self.at is not None:
            return (self.at, inf) if direction == "higher" else (-inf, self.at)
        return -inf if self.min is None else self.min, inf if self.max is None else self.max


class Threshold:
    """Accepts while one score is at least as good as a fixed value, or lies between two."""

    Config: ClassVar[type[ComponentConfig]] = ThresholdConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: ThresholdConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold the score against its bounds."""
        reading = scores[self.config.evaluator]
        value, (low, high) = reading.value, self.config.bounds(reading.direction)
        if value < low:
            relation = f"< {low:.4g}"
        elif value > high:
            relation = f"> {high:.4g}"
        elif isfinite(low) and isfinite(high):
            relation = f"between {low:.4g} and {high:.4g}"
        else:
            relation = f">= {low:.4g}" if isfinite(low) else f"<= {high:.4g}"
        worst = low if reading.direction == "higher" else high
        bounds = {"min": self.config.min, "max": self.config.max}
        accept = low <= value <= high
        return Decision(
            "accept" if accept else "reject",
            f"{reading.evaluator} {value:.4g} {relation}",
            {"value": value} | {name: bound for name, bound in bounds.items() if bound is not None},
            {reading.evaluator: worst} if isfinite(worst) else {},
        )


# Threshold relative to the first accepted image, the current one, the best so far, or the origin.

Baseline = Literal["first", "previous", "origin", "best"]


class RelativeConfig(CalibratedConfig):
    """Accept while the score is at most `margin` worse than the reference's."""

    evaluator: str
    """Name of the evaluator in the run."""
    reference: Baseline
    """`first`: the first accepted image; `previous`: the current image; `origin`; `best`: the best of the lineage."""
    margin: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """How much worse is still accepted, in the evaluator's unit, whichever way is better."""


class Relative:
    """Accepts while one score is at most a margin worse than a reference image's."""

    Config: ClassVar[type[ComponentConfig]] = RelativeConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: RelativeConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold the score against the reference's; without a reference the candidate becomes it and is accepted."""
        reading = scores[self.config.evaluator]
        reference = self._reference(past)
        if reference is None:
            reason = f"{reading.evaluator} {reading.value:.4g}: no {self.config.reference} image to compare with yet"
            return Decision("accept", reason, {"value": reading.value, "reference": None})
        worse_by = reference.oriented_score - reading.oriented_score
        accept = worse_by <= self.config.margin
        which = {"first": "first accepted", "previous": "previous", "origin": "origin", "best": "best"}
        reason = (
            f"{reading.evaluator} {reading.value:.4g} is {abs(worse_by):.3g} {'worse' if worse_by > 0 else 'better'} "
            f"than {which[self.config.reference]} {reference.value:.4g} (margin {self.config.margin:.3g})"
        )
        evidence = {"value": reading.value, "reference": reference.value, "worse_by": worse_by}
        margin = self.config.margin
        worst = reference.oriented_score - margin
        return Decision(
            "accept" if accept else "reject",
            reason,
            {**evidence, "margin": margin},
            {reading.evaluator: worst if reading.direction == "higher" else -worst},
        )

    def _reference(self, past: Past) -> Reading | None:
        name = self.config.evaluator
        match self.config.reference:
            case "first":
                return past.first.get(name)
            case "previous":
                return past.previous.get(name)
            case "origin":
                return past.origin.get(name)
            case "best":
                seen = [past.origin, *(image.readings for image in past.accepted)]
                return max((r[name] for r in seen if name in r), key=lambda r: r.oriented_score, default=None)


# Accepts by a judge's verdict in words.


def _as_list(raw: Any) -> Any:
    return [raw] if isinstance(raw, str) else raw


class LabelConfig(ComponentConfig):
    """Which verdicts are accepted."""

    evaluator: str
    """Name of the evaluator in the run; its scores must carry labels."""
    accept: Annotated[list[str], BeforeValidator(_as_list)] = Field(min_length=1)
    """Labels that are accepted, one or a list; case and outer spaces do not matter."""


class LabelGate:
    """Accepts when the verdict of one judge, in words, is among those named; no verdict is rejected."""

    Config: ClassVar[type[ComponentConfig]] = LabelConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: LabelConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})
        self._accepted = frozenset(_plain(label) for label in config.accept)

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Look the label up; the number beside it decides nothing."""
        reading = scores[self.config.evaluator]
        wanted = " or ".join(self.config.accept)
        evidence = {"value": reading.value, "label": reading.label, "accepted": wanted}
        if reading.label is None:
            return Decision("reject", f"{reading.evaluator} gave no label, {wanted} is needed", evidence)
        accept = _plain(reading.label) in self._accepted
        shown = one_line(reading.label, 100)
        reason = f"{reading.evaluator} says {shown!r}, {'as' if accept else 'not'} {wanted}"
        return Decision("accept" if accept else "reject", reason, evidence)


def _plain(label: str) -> str:
    return one_line(label).casefold()
