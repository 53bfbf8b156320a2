"""Exponentially weighted moving average of a score against its own control limit (Roberts 1959)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from math import sqrt
from typing import ClassVar

from pydantic import Field

from turngate.agent.gate import Decision, Past, Readings
from turngate.agent.gates.spc import BaselineConfig, standardise
from turngate.part import PartConfig

__all__ = ["Ewma", "EwmaConfig"]


class EwmaConfig(BaselineConfig):
    """Weight of the newest score, and width of the control limit."""

    weight: float = Field(default=0.2, gt=0, le=1)
    """Lambda: share of the newest score in the average, 0..1; 1 is `k_sigma`."""
    width: float = Field(default=3.0, gt=0, le=1000)
    """L: control limit, in SDs of the average."""


class Ewma:
    """Accepts while the moving average of one score is at most L of its own SDs worse than usual."""

    Config: ClassVar[type[PartConfig]] = EwmaConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: EwmaConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Fold Z_i = w z_i + (1 - w) Z_(i-1) over lineage and candidate, Z_0 = 0, z in SDs worse.

        Reject when Z_n > L sqrt(w / (2 - w) (1 - (1 - w)^(2n))), the exact SD of the n-th average (in SDs of z).
        """
        seen = standardise(self.config, scores, past)
        if isinstance(seen, Decision):
            return seen
        w, number = self.config.weight, len(seen.watched) + 1
        *_, before = accumulate(seen.watched, lambda average, z: w * z + (1 - w) * average, initial=0.0)
        average = w * seen.candidate + (1 - w) * before
        limit = self.config.width * sqrt(w / (2 - w) * (1 - (1 - w) ** (2 * number)))
        return seen.decision("EWMA", average, limit, (limit - (1 - w) * before) / w)
