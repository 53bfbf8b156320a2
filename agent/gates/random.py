"""The gate that flips a coin: what a gate with this acceptance rate does without looking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from turngate.agent.gate import Decision, Past, Readings
from turngate.part import PartConfig

__all__ = ["RandomConfig", "RandomGate"]


class RandomConfig(PartConfig):
    """Accept with a fixed probability."""

    accept_rate: float = Field(ge=0, le=1)
    """Probability of accepting a candidate, 0..1."""


class RandomGate:
    """Accepts with a fixed probability, seeded: a control that does not look at the image."""

    Config: ClassVar[type[PartConfig]] = RandomConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = False

    def __init__(self, config: RandomConfig) -> None:
        self.config = config

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Draw from the seed of this turn and attempt."""
        draw = float(np.random.default_rng(past.seed).random())
        accept = draw < self.config.accept_rate
        reason = f"drew {draw:.3f} against an acceptance rate of {self.config.accept_rate:.3g}"
        return Decision(
            "accept" if accept else "reject", reason, {"draw": draw, "accept_rate": self.config.accept_rate}
        )
