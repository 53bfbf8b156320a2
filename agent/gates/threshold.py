"""Absolute threshold on one evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.gate import Decision, Past, Readings
from turngate.part import PartConfig

__all__ = ["Threshold", "ThresholdConfig"]


class ThresholdConfig(PartConfig):
    """Accept while the score is at least as good as `at`."""

    evaluator: str
    """Name of the evaluator in the run."""
    at: float
    """Worst value that is still accepted, in the evaluator's unit; which way is better comes from its facts."""


class Threshold:
    """Accepts while one score is at least as good as a fixed value."""

    Config: ClassVar[type[PartConfig]] = ThresholdConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: ThresholdConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold the score against the threshold."""
        reading = scores[self.config.evaluator]
        sign = 1.0 if reading.direction == "higher" else -1.0
        accept = reading.goodness >= sign * self.config.at
        relation = {(True, True): ">=", (False, True): "<", (True, False): "<=", (False, False): ">"}
        how = relation[accept, reading.direction == "higher"]
        return Decision(
            "accept" if accept else "reject",
            f"{reading.evaluator} {reading.value:.4g} {how} {self.config.at:.4g}",
            {"value": reading.value, "threshold": self.config.at},
        )
