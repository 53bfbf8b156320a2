"""Gates that join others: all, any, a vote, a veto, a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator

from turngate.agent.gate import Decision, Past, Readings, Verdict
from turngate.agent.gates import GATES
from turngate.component import ComponentConfig

if TYPE_CHECKING:
    from turngate.evaluators import Facts

__all__ = ["AllOf", "AnyOf", "CombinedConfig", "Vote"]


class MembersConfig(ComponentConfig):
    """The gates that are asked."""

    gates: list[SerializeAsAny[ComponentConfig]] = Field(min_length=1)
    """Gates, each `{type, ...}` or a bare name; any gate, `all`, `any` and `vote` included."""

    @field_validator("gates", mode="before")
    @classmethod
    def _members(cls, raw: Any) -> Any:
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
            problem = gate.misfit(facts) if hasattr(gate, "misfit") else None
            if problem:
                return f"gates.{number}.{problem}"
        return None

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Ask every gate, even when the outcome is clear: each reason is worth reading.

        The verdict is `accept_masked` when enough accept only if those count that accept masked.
        """
        decisions = [self._ask(index, scores, past) for index in range(len(self.gates))]
        whole = sum(decision.verdict == "accept" for decision in decisions)
        accepting = sum(decision.verdict != "reject" for decision in decisions)
        verdict: Verdict = "accept" if whole >= self.needed else "accept_masked"
        reasons: list[str] = []
        evidence: dict[str, float | str | None] = {"accepting": float(accepting), "needed": float(self.needed)}
        for number, (item, decision) in enumerate(zip(self.config.gates, decisions, strict=True), 1):
            reasons.append(f"{item.type} {'no' if decision.verdict == 'reject' else 'yes'} ({decision.reason})")
            evidence[f"{number}.{item.type}"] = decision.verdict
            evidence |= {f"{number}.{key}": value for key, value in decision.evidence.items()}
        reason = f"{accepting} of {len(decisions)} accept, {self.needed} needed: {'; '.join(reasons)}"
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
