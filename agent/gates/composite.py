"""Gates that join others: all, any, a vote, a veto, a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator, model_validator

from turngate.agent.gate import Decision, Past, Reading, Readings, Verdict
from turngate.agent.gates import GATES
from turngate.agent.gates.spc import oriented_score
from turngate.component import ComponentConfig
from turngate.errors import ConfigError
from turngate.frozen import StrictModel
from turngate.registry import nearest

if TYPE_CHECKING:
    from turngate.evaluators import Facts

__all__ = ["AllOf", "AnyOf", "Limit", "Mean", "Veto", "Vote"]


# Gates inside a gate: their configuration, and asking them. Helper of vote, all and any.


class MembersConfig(ComponentConfig):
    """The gates that are asked."""

    gates: list[SerializeAsAny[ComponentConfig]] = Field(min_length=1)
    """Gates, each `{type, ...}` or a bare name; any gate, `all`, `any` and `vote` included."""

    @field_validator("gates", mode="before")
    @classmethod
    def _parts(cls, raw: Any) -> Any:
        if isinstance(raw, Mapping):  # as `--set gate.gates.threshold.at=3` writes it
            raw = list(raw.values())
        if not isinstance(raw, Sequence) or isinstance(raw, str):
            return raw
        return [GATES.configure(item, f"gates.{number}") for number, item in enumerate(raw)]


class Joint:
    """Asks several gates and accepts when enough of them accept. A subclass says how many are enough."""

    requires: ClassVar[Mapping[str, str]] = {}
    needed: int
    """How many gates must accept."""

    def __init__(self, config: MembersConfig) -> None:
        self.config = config
        self.gates = [GATES.build(item) for item in config.gates]
        self.reads: frozenset[str] = frozenset().union(*(gate.reads for gate in self.gates))
        self.reads_truth = any(gate.reads_truth for gate in self.gates)

    def misfit(self, facts: Mapping[str, Facts]) -> str | None:
        """Why the run's evaluators do not suit one of the gates."""
        for number, gate in enumerate(self.gates):
            told = gate.misfit(facts) if hasattr(gate, "misfit") else None
            if told:
                return f"gates.{number}.{told}"
        return None

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Ask every gate, even when the outcome is clear: each reason is worth reading.

        The verdict is `accept_masked` when enough accept only if those count that accept masked.
        """
        decisions = [self._ask(index, scores, past) for index in range(len(self.gates))]
        whole = sum(decision.verdict == "accept" for decision in decisions)
        accepting = sum(decision.verdict != "reject" for decision in decisions)
        verdict: Verdict = "accept" if whole >= self.needed else "accept_masked"
        told: list[str] = []
        evidence: dict[str, float | str | None] = {"accepting": float(accepting), "needed": float(self.needed)}
        for number, (item, decision) in enumerate(zip(self.config.gates, decisions, strict=True), 1):
            told.append(f"{item.type} {'no' if decision.verdict == 'reject' else 'yes'} ({decision.reason})")
            evidence[f"{number}.{item.type}"] = decision.verdict
            evidence |= {f"{number}.{key}": value for key, value in decision.evidence.items()}
        reason = f"{accepting} of {len(decisions)} accept, {self.needed} needed: {'; '.join(told)}"
        thresholds = self._thresholds(decisions, scores)
        return Decision(verdict if accepting >= self.needed else "reject", reason, evidence, thresholds)

    def _thresholds(self, decisions: Sequence[Decision], scores: Readings) -> dict[str, float]:
        """The strictest of each evaluator's where every gate must accept; otherwise one gate's decides nothing."""
        found: dict[str, float] = {}
        for decision in decisions if self.needed == len(decisions) else ():
            for name, value in decision.thresholds.items():
                strictest = max if scores[name].direction == "higher" else min
                found[name] = strictest(found.get(name, value), value)
        return found

    def _ask(self, index: int, scores: Readings, past: Past) -> Decision:
        """One gate's decision from what it would be shown alone; several random gates draw differently."""
        gate = self.gates[index]
        seed = int(np.random.SeedSequence([past.seed, index]).generate_state(1)[0]) if index else past.seed
        shown = replace(past, seed=seed, damaged=past.damaged if gate.reads_truth else None)
        return gate.decide({name: reading for name, reading in scores.items() if name in gate.reads}, shown)


class CombinedConfig(MembersConfig):
    """The gates that are joined."""


class AllOf(Joint):
    """Accepts when every one of several gates accepts."""

    Config: ClassVar[type[ComponentConfig]] = CombinedConfig

    def __init__(self, config: CombinedConfig) -> None:
        super().__init__(config)
        self.needed = len(self.gates)


class AnyOf(Joint):
    """Accepts when at least one of several gates accepts."""

    Config: ClassVar[type[ComponentConfig]] = CombinedConfig
    needed = 1


# Several gates vote.


class VoteConfig(MembersConfig):
    """Who votes, and how many must accept."""

    at_least: Literal["majority"] | int = "majority"
    """Gates that must accept: a number, or `majority` (more than half)."""

    @field_validator("at_least")
    @classmethod
    def _can_be_reached(cls, votes: Literal["majority"] | int, info: ValidationInfo) -> Literal["majority"] | int:
        number = len(info.data.get("gates", ()))
        if number and votes != "majority" and not 1 <= votes <= number:
            raise ValueError(f"of {number} gates 1 to {number} can be needed")
        return votes


class Vote(Joint):
    """Accepts when enough of several gates accept: a majority, or k of n."""

    Config: ClassVar[type[ComponentConfig]] = VoteConfig

    def __init__(self, config: VoteConfig) -> None:
        super().__init__(config)
        self.needed = len(self.gates) // 2 + 1 if config.at_least == "majority" else config.at_least


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


class MeanConfig(ComponentConfig):
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
            mean = sign * float(np.mean([oriented_score(judge) for judge in judges]))
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


# Any evaluator beyond its own limit rejects: a good score elsewhere cannot make up for it.


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


class VetoConfig(ComponentConfig):
    """One limit or more for each evaluator."""

    limits: dict[str, Limit] = Field(min_length=1)
    """Name of an evaluator in the run -> its limit."""


class Veto:
    """Accepts while every evaluator is within its own limit: scores do not compensate each other."""

    Config: ClassVar[type[ComponentConfig]] = VetoConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: VetoConfig) -> None:
        self.config = config
        self.reads = frozenset(config.limits)

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold each score against its limit; one that is relative to an origin without a score does not bite."""
        vetoes: dict[str, str] = {}
        evidence: dict[str, float | str | None] = {}
        thresholds: dict[str, float] = {}
        for name, limit in self.config.limits.items():
            reading, start = scores[name], past.origin.get(name)
            worse_by = oriented_score(start) - oriented_score(reading) if start is not None else None
            evidence[name] = reading.value
            evidence |= {f"{name}.{kind}": bound for kind, bound in limit.model_dump(exclude_none=True).items()}
            if limit.worse_than_origin is not None:
                evidence[f"{name}.worse_by"] = worse_by
            worst = _worst(reading, start, limit)
            if worst is not None:
                thresholds[name] = worst
            broken = _broken(reading.value, worse_by, limit)
            if broken:
                vetoes[name] = f"{name} {reading.value:.4g} {broken}"
        evidence["vetoed_by"] = ", ".join(vetoes) or None
        if vetoes:
            return Decision("reject", "; ".join(vetoes.values()), evidence, thresholds)
        values = ", ".join(f"{name} {scores[name].value:.4g}" for name in self.config.limits)
        return Decision("accept", f"within every limit: {values}", evidence, thresholds)


def _worst(reading: Reading, start: Reading | None, limit: Limit) -> float | None:
    """The worst value within the limit; None where only the better side is limited."""
    higher = reading.direction == "higher"
    bounds = [limit.min if higher else limit.max]
    if start is not None and limit.worse_than_origin is not None:
        worst = oriented_score(start) - limit.worse_than_origin
        bounds.append(worst if higher else -worst)
    known = [bound for bound in bounds if bound is not None]
    return (max if higher else min)(known) if known else None


def _broken(value: float, worse_by: float | None, limit: Limit) -> str:
    """What the score goes beyond, in words; empty when it is within the limit."""
    if limit.min is not None and value < limit.min:
        return f"< {limit.min:.4g}"
    if limit.max is not None and value > limit.max:
        return f"> {limit.max:.4g}"
    if worse_by is not None and limit.worse_than_origin is not None and worse_by > limit.worse_than_origin:
        return f"is {worse_by:.3g} worse than the origin (limit {limit.worse_than_origin:.3g})"
    return ""
