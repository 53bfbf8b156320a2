"""Mean of several judges against a threshold, as in IMAGAgent (arXiv 2603.29602): up to three judges, pass at 7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from turngate.agent.gate import Decision, Past, Reading, Readings
from turngate.agent.gates._stream import goodness
from turngate.errors import ConfigError
from turngate.part import PartConfig
from turngate.registry import nearest

if TYPE_CHECKING:
    from turngate.evaluators import Facts

__all__ = ["Mean", "MeanConfig", "Scale"]


class Scale(BaseModel):
    """Scores that are stretched to 0..1; beyond its ends a score counts as the end."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)

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


class MeanConfig(PartConfig):
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

    Config: ClassVar[type[PartConfig]] = MeanConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: MeanConfig) -> None:
        self.config = config
        self.reads = frozenset(config.evaluators)

    def misfit(self, facts: Mapping[str, Facts]) -> str | None:
        """Why the run's evaluators cannot be averaged: other directions or ranges and no `normalise`."""
        known = {name: facts[name] for name in self.config.evaluators if name in facts}
        if self.config.normalise is None:
            kinds = {(fact.direction, fact.range) for fact in known.values()}
            told = ", ".join(f"{name} ({fact.direction} is better, {_range(fact)})" for name, fact in known.items())
            return f"normalise: judges of one scale are needed, or a scale for each: {told}" if len(kinds) > 1 else None
        for name, fact in known.items():
            scale = self.config.normalise[name]
            if (scale.best > scale.worst) != (fact.direction == "higher"):
                return f"normalise.{name}: {fact.direction} is better, so exchange worst and best"
        return None

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Average the judges; raises `ConfigError` when they differ in direction and are not normalised."""
        judges = [scores[name] for name in self.config.evaluators]
        scales, at = self.config.normalise, self.config.at
        if scales is not None:
            mean = float(np.mean([scales[judge.evaluator].share(judge.value) for judge in judges]))
            accept = mean >= at
        else:
            sign = _direction(judges)
            mean = sign * float(np.mean([goodness(judge) for judge in judges]))
            accept = sign * mean >= sign * at
        told = ", ".join(f"{judge.evaluator} {judge.value:.4g}" for judge in judges)
        evidence = {judge.evaluator: judge.value for judge in judges} | {"mean": mean, "threshold": at}
        reason = f"mean {mean:.4g} is {'good enough' if accept else 'too bad'} for {at:.4g} ({told})"
        return Decision("accept" if accept else "reject", reason, evidence)


def _direction(judges: list[Reading]) -> float:
    """1 when higher is better for all judges, -1 when lower is."""
    if len({judge.direction for judge in judges}) > 1:
        told = ", ".join(f"{judge.evaluator} ({judge.direction} is better)" for judge in judges)
        raise ConfigError(f"gate.normalise: judges of one direction are needed, or a scale for each: {told}")
    return 1.0 if judges[0].direction == "higher" else -1.0


def _range(facts: Facts) -> str:
    return f"{facts.range[0]:g}..{facts.range[1]:g}"
