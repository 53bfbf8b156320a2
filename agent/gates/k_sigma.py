"""Rejects what is more than k standard deviations worse than usual: a Shewhart chart (Shewhart 1931)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from turngate.agent.gate import Decision, Past, Readings
from turngate.agent.gates.spc import BaselineConfig, standardise
from turngate.part import PartConfig

__all__ = ["KSigma", "KSigmaConfig"]


class KSigmaConfig(BaselineConfig):
    """How far from usual is too far."""

    k: float = Field(default=3.0, gt=0, le=1000)
    """SDs on the worse side that are still accepted."""


class KSigma:
    """Accepts while one score is at most k SDs worse than the mean of a warm-up; looks at the candidate alone."""

    Config: ClassVar[type[PartConfig]] = KSigmaConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: KSigmaConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold the candidate's distance from the baseline against k; a better score is never rejected."""
        seen = standardise(self.config, scores, past)
        if isinstance(seen, Decision):
            return seen
        return seen.decision("SDs worse", seen.candidate, self.config.k, self.config.k)
