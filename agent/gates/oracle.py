"""The gate that knows the truth: the upper bound of every study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.gate import Decision, Past, Readings
from turngate.part import PartConfig

__all__ = ["Oracle", "OracleConfig"]


class OracleConfig(PartConfig):
    """The oracle takes no settings: the run's `truth` says what damaged means."""


class Oracle:
    """Rejects exactly the damaged candidates: a control, for it sees the truth."""

    Config: ClassVar[type[PartConfig]] = OracleConfig
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
