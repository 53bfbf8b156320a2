"""Controls that every study needs: always accept, always reject, the oracle, a coin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from turngate.agent.gate import Decision, Past, Readings
from turngate.component import ComponentConfig

__all__ = ["AlwaysAccept", "AlwaysReject", "Oracle", "RandomGate"]


class AlwaysConfig(ComponentConfig):
    """The constant gates take no settings."""


class AlwaysAccept:
    """Accepts every candidate: the loop without a gate."""

    Config: ClassVar[type[ComponentConfig]] = AlwaysConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = False

    def __init__(self, config: AlwaysConfig) -> None:
        self.config = config

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Accept."""
        return Decision("accept", "always accepts")


class AlwaysReject:
    """Rejects every candidate: with `keep_best` this is best-of-k selection, otherwise the image never changes."""

    Config: ClassVar[type[ComponentConfig]] = AlwaysConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = False

    def __init__(self, config: AlwaysConfig) -> None:
        self.config = config

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Reject."""
        return Decision("reject", "always rejects")


# The gate that knows the truth: the upper bound of every study.


class OracleConfig(ComponentConfig):
    """The oracle takes no settings: the run's `truth` says what damaged means."""


class Oracle:
    """Rejects exactly the damaged candidates: a control, for it sees the truth."""

    Config: ClassVar[type[ComponentConfig]] = OracleConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = True

    def __init__(self, config: OracleConfig) -> None:
        self.config = config

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Reject when damaged. An unknown truth rejects too: the oracle never guesses in the editor's favour."""
        if past.damaged is None:
            return Decision("reject", "the truth of this candidate is not known")
        return Decision("reject", "damaged") if past.damaged else Decision("accept", "sound")


# The gate that flips a coin: what a gate with this acceptance rate does without looking.


class RandomConfig(ComponentConfig):
    """Accept with a fixed probability."""

    accept_rate: float = Field(ge=0, le=1)
    """Probability of accepting a candidate, 0..1."""


class RandomGate:
    """Accepts with a fixed probability, seeded: a control that does not look at the image."""

    Config: ClassVar[type[ComponentConfig]] = RandomConfig
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
