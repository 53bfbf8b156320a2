"""Controls that every study needs: always accept, always reject, the oracle, a coin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from turngate.agent.gate import Decision, Past, Readings
from turngate.component import ComponentConfig

__all__ = ["AlwaysAccept", "AlwaysReject", "Oracle", "RandomGate"]


class ControlGateConfig(ComponentConfig):
    """No settings."""


class ControlGate:
    """What controls share: they read no evaluator."""

    Config: ClassVar[type[ComponentConfig]] = ControlGateConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = False

    def __init__(self, config: ComponentConfig) -> None:
        self.config = config


class AlwaysAccept(ControlGate):
    """Accepts every candidate: the loop without a gate."""

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Accept."""
        return Decision("accept", "always accepts")


class AlwaysReject(ControlGate):
    """Rejects every candidate: with `keep_best` this is best-of-k selection, otherwise the image never changes."""

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Reject."""
        return Decision("reject", "always rejects")


class Oracle(ControlGate):
    """Rejects exactly the damaged candidates: the upper bound, for it sees the run's `truth`."""

    reads_truth = True

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Reject when damaged. An unknown truth rejects too: the oracle never guesses in the editor's favour."""
        if past.damaged is None:
            return Decision("reject", "the truth of this candidate is not known")
        return Decision("reject", "damaged") if past.damaged else Decision("accept", "sound")


class RandomConfig(ComponentConfig):
    """Accept with a fixed probability."""

    accept_rate: float = Field(ge=0, le=1)
    """Probability of accepting a candidate, 0..1."""


class RandomGate(ControlGate):
    """Accepts with a fixed probability, seeded: what a gate with this acceptance rate does without looking."""

    Config: ClassVar[type[ComponentConfig]] = RandomConfig

    def __init__(self, config: RandomConfig) -> None:
        super().__init__(config)
        self.accept_rate = config.accept_rate

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Draw from the seed of this turn and attempt."""
        draw = float(np.random.default_rng(past.seed).random())
        accept = draw < self.accept_rate
        reason = f"drew {draw:.3f} against an acceptance rate of {self.accept_rate:.3g}"
        return Decision("accept" if accept else "reject", reason, {"draw": draw, "accept_rate": self.accept_rate})
