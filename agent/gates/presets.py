"""Gates that are made of others: `veto` is `all` over thresholds, `mean` a threshold on the mean of several scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, ValidationInfo, field_validator, model_validator

from turngate.agent.gate import CalibratedConfig, Decision, Past, Reading, Readings
from turngate.agent.gates.composite import AllOf, CombinedConfig
from turngate.agent.gates.threshold import RelativeConfig, Threshold, ThresholdConfig
from turngate.component import ComponentConfig, Direction
from turngate.errors import ConfigError
from turngate.evaluators import mean_score
from turngate.frozen import StrictModel
from turngate.registry import nearest

if TYPE_CHECKING:
    from turngate.evaluators import Facts

__all__ = ["Mean", "Veto"]


class Limit(StrictModel, allow_inf_nan=False):
    """What one evaluator may not go beyond."""

    min: float | None = None
    """Smallest value that is accepted, in the evaluator's unit, whichever way is better."""
    max: float | None = None
    """Largest value that is accepted, in the evaluator's unit, whichever way is better."""
    worse_than_origin: float | None = Field(default=None, ge=0)
    """How much worse than the origin's score is still accepted, in the evaluator's unit."""

    @model_validator(mode="after")
    def _says_something(self) -> Limit:
        if self.min is None and self.max is None and self.worse_than_origin is None:
            raise ValueError("give min, max or worse_than_origin")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is above max, so nothing is accepted")
        return self


class VetoConfig(CalibratedConfig):
    """One limit or more for each evaluator."""

    limits: dict[str, Limit] = Field(min_length=1)
    """Name of an evaluator in the run -> its limit."""

    def gates(self) -> list[ComponentConfig]:
        """The same as gates: a `threshold` for the bounds, `relative` to the origin for the distance."""
        return [gate for name, limit in self.limits.items() for gate in _gates(name, limit)]


def _gates(name: str, limit: Limit) -> Iterator[ComponentConfig]:
    if limit.min is not None or limit.max is not None:
        yield ThresholdConfig(type="threshold", evaluator=name, min=limit.min, max=limit.max)
    if limit.worse_than_origin is not None:
        margin = limit.worse_than_origin
        yield RelativeConfig(type="relative", evaluator=name, reference="origin", margin=margin)


class Veto(AllOf):
    """Accepts while every evaluator is within its own limit: scores do not compensate each other."""

    Config: ClassVar[type[ComponentConfig]] = VetoConfig

    def __init__(self, config: VetoConfig) -> None:
        super().__init__(CombinedConfig(type="all", gates=config.gates()))


# Mean of several judges against a threshold, as in IMAGAgent (arXiv 2603.29602): up to three judges, pass at 7.


class Scale(StrictModel, allow_inf_nan=False):
    """Scores that are stretched to 0..1; beyond its ends a score counts as the end."""

    worst: float = Field(ge=-1e100, le=1e100)
    """Score that counts as 0, in the evaluator's unit."""
    best: float = Field(ge=-1e100, le=1e100)
    """Score that counts as 1, in the evaluator's unit; below `worst` where lower is better."""

    @field_validator("best")
    @classmethod
    def _has_width(cls, best: float, info: ValidationInfo) -> float:
        if best == info.data.get("worst"):
            raise ValueError("best and worst must differ")
        return best

    def share(self, value: float) -> float:
        """Where `value` lies between worst (0) and best (1)."""
        return min(max((value - self.worst) / (self.best - self.worst), 0.0), 1.0)


class MeanConfig(CalibratedConfig):
    """Judges, and the mean that is good enough."""

    evaluators: list[str] = Field(min_length=1)
    """Names of the judges in the run."""
    normalise: dict[str, Scale] | None = None
    """Judge -> its scale, for judges of different scales or directions; all of them, or none."""
    at: float
    """Worst mean that is still accepted: in the judges' unit, or 0..1 when they are normalised."""

    @field_validator("evaluators")
    @classmethod
    def _each_once(cls, names: list[str]) -> list[str]:
        if len(set(names)) < len(names):
            raise ValueError("a judge is named twice")
        return names

    @field_validator("normalise")
    @classmethod
    def _all_of_them(cls, scales: dict[str, Scale] | None, info: ValidationInfo) -> dict[str, Scale] | None:
        judges = info.data.get("evaluators", [])
        for name in scales or {}:
            if name not in judges:
                raise ValueError(f"{name!r} is not among the evaluators{nearest(name, judges)}")
        missing = [name for name in judges if scales is not None and name not in scales]
        if missing:
            raise ValueError(f"there is no scale for {', '.join(missing)}")
        return scales

    @field_validator("at")
    @classmethod
    def _on_the_scale(cls, at: float, info: ValidationInfo) -> float:
        if info.data.get("normalise") and not 0 <= at <= 1:
            raise ValueError("the mean of normalised scores lies between 0 and 1")
        return at


class Mean:
    """Accepts while the mean of several judges is at least as good as a fixed value; scores compensate each other."""

    Config: ClassVar[type[ComponentConfig]] = MeanConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: MeanConfig) -> None:
        self.config = config
        self.reads = frozenset(config.evaluators)
        self._threshold = Threshold(ThresholdConfig(type="threshold", evaluator="mean", at=config.at))

    def misfit(self, facts: Mapping[str, Facts]) -> str | None:
        """Why the run's evaluators cannot be averaged: other directions or ranges and no `normalise`."""
        known = {name: facts[name] for name in self.config.evaluators if name in facts}
        if self.config.normalise is None:
            kinds = {(fact.direction, fact.range) for fact in known.values()}
            shown = ", ".join(f"{name} ({fact.direction} is better, {_range(fact)})" for name, fact in known.items())
            return (
                f"normalise: judges of one scale are needed, or a scale for each: {shown}" if len(kinds) > 1 else None
            )
        for name, fact in known.items():
            scale = self.config.normalise[name]
            if (scale.best > scale.worst) != (fact.direction == "higher"):
                return f"normalise.{name}: {fact.direction} is better, so exchange worst and best"
        return None

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold the judges' mean against the threshold.

        Raises `ConfigError` when they differ in direction and are not normalised.
        """
        judges = [scores[name] for name in self.config.evaluators]
        mean = self._mean(judges)
        decision = self._threshold.decide({mean.evaluator: mean}, past)
        shown = ", ".join(f"{judge.evaluator} {judge.value:.4g}" for judge in judges)
        values = {judge.evaluator: judge.value for judge in judges}
        evidence = {**values, "mean": mean.value, "threshold": self.config.at}
        return Decision(decision.verdict, f"{decision.reason} ({shown})", evidence)

    def _mean(self, judges: list[Reading]) -> Reading:
        """As the evaluator `ensemble` joins scores with `rule: mean`."""
        scales = self.config.normalise
        if scales is not None:
            shares = [scales[judge.evaluator].share(judge.value) for judge in judges]
            return Reading("mean", mean_score(shares), "higher")
        direction = _direction(judges)
        mean = mean_score([judge.oriented_score for judge in judges])
        return Reading("mean", mean if direction == "higher" else -mean, direction)


def _direction(judges: list[Reading]) -> Direction:
    """Which way is better for all judges."""
    if len({judge.direction for judge in judges}) > 1:
        shown = ", ".join(f"{judge.evaluator} ({judge.direction} is better)" for judge in judges)
        raise ConfigError(f"gate.normalise: judges of one direction are needed, or a scale for each: {shown}")
    return judges[0].direction


def _range(facts: Facts) -> str:
    return f"{facts.range[0]:g}..{facts.range[1]:g}"
