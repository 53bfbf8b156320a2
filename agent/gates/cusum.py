"""Cumulative sum of what is worse than usual: notices small shifts that last (Page 1954)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import ClassVar

from pydantic import Field

from turngate.agent.gate import Decision, Past, Readings
from turngate.agent.gates.spc import BaselineConfig, standardise
from turngate.part import PartConfig

__all__ = ["Cusum", "CusumConfig"]


class CusumConfig(BaselineConfig):
    """Reference value and decision interval, in SDs of the baseline."""

    k: float = Field(default=0.5, gt=0, le=1000)
    """Reference value: half the shift that is to be found, in SDs. Smaller worsening does not add up."""
    h: float = Field(default=5.0, gt=0, le=1e6)
    """Decision interval, in SDs: the sum that is still accepted."""
    two_sided: bool = False
    """Reject what adds up on the better side too: a score that improves without end is suspicious."""


class Cusum:
    """Accepts while the cumulative sum of a score's worsening, beyond k SDs per image, stays within h SDs."""

    Config: ClassVar[type[PartConfig]] = CusumConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: CusumConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Fold S_i = max(0, S_(i-1) + z_i - k) over lineage and candidate, z in SDs worse; reject when S > h.

        A rejected candidate leaves no trace: the next one starts from the lineage's sum.
        """
        seen = standardise(self.config, scores, past)
        if isinstance(seen, Decision):
            return seen
        k, h = self.config.k, self.config.h
        before = self._sum(seen.watched, 1)
        worse = max(0.0, before + seen.candidate - k)
        one_sided = seen.decision("CUSUM", worse, h, h - before + k)
        if not self.config.two_sided:
            return one_sided
        better = max(0.0, self._sum(seen.watched, -1) - seen.candidate - k)
        evidence = {**one_sided.evidence, "statistic_better": better}
        if better <= h or one_sided.verdict == "reject":
            return Decision(one_sided.verdict, one_sided.reason, evidence)
        return Decision("reject", seen.decision("CUSUM of the better side", better, h, 0.0).reason, evidence)

    def _sum(self, watched: tuple[float, ...], sign: int) -> float:
        *_, last = accumulate(watched, lambda total, z: max(0.0, total + sign * z - self.config.k), initial=0.0)
        return last
