"""Page-Hinkley test: a score that stays worse than its own running mean (Page 1954; Hinkley 1971)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import ClassVar, NamedTuple

from pydantic import Field

from turngate.agent.gate import Decision, Past, Readings
from turngate.agent.gates._stream import goodness, lineage, origin
from turngate.part import PartConfig

__all__ = ["PageHinkley", "PageHinkleyConfig"]


class PageHinkleyConfig(PartConfig):
    """Tolerance and alarm level, in the evaluator's unit."""

    evaluator: str
    """Name of the evaluator in the run."""
    delta: float = Field(default=0.0, ge=0, le=1e100)
    """Worsening per image that is tolerated, in the evaluator's unit."""
    threshold: float = Field(gt=0, le=1e100)
    """Lambda: the worsening, summed over images, that is still accepted, in the evaluator's unit."""
    warmup: int = Field(default=0, ge=0, le=1000)
    """Scores that the lineage must hold before a candidate can be rejected."""
    with_origin: bool = False
    """Let the stream begin with the origin's score."""


class PageHinkley:
    """Accepts while one score's summed worsening against its own running mean stays within a threshold."""

    Config: ClassVar[type[PartConfig]] = PageHinkleyConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: PageHinkleyConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Fold m_i = m_(i-1) + x_i - mean(x_1..x_i) - delta over lineage and candidate, x larger when worse.

        Reject when m_n - min(m_1..m_n) > threshold. It needs no baseline: the mean is that of the stream so far.
        """
        name, delta, threshold = self.config.evaluator, self.config.delta, self.config.threshold
        reading = scores[name]
        stream = (origin(past, name) if self.config.with_origin else []) + lineage(past, name)
        before = reduce(lambda walk, score: walk.step(-score, delta), stream, _Walk())
        after = before.step(-goodness(reading), delta)
        statistic = after.summed - after.lowest
        evidence = {"value": reading.value, "scores": float(before.number), "statistic": statistic, "limit": threshold}
        if before.number < self.config.warmup:
            reason = f"{name} {reading.value:.4g}: warm-up, {before.number} of {self.config.warmup} scores so far"
            return Decision("accept", reason, evidence)
        if before.number:
            worst = before.mean + (threshold + before.lowest - before.summed + delta) * after.number / before.number
            evidence["threshold"] = -worst if reading.direction == "higher" else worst
        accept = statistic <= threshold
        reason = (
            f"{name} {reading.value:.4g}: Page-Hinkley {statistic:.3g} {'within' if accept else 'beyond'} "
            f"{threshold:.3g} after {before.number} scores"
        )
        return Decision("accept" if accept else "reject", reason, evidence)


class _Walk(NamedTuple):
    """The cumulative deviation from the running mean, after some scores."""

    number: int = 0
    mean: float = 0.0
    summed: float = 0.0
    lowest: float = 0.0

    def step(self, worse: float, delta: float) -> _Walk:
        """One score more: x_n - mean_n is (x_n - mean_(n-1)) (n - 1) / n."""
        number, deviation = self.number + 1, worse - self.mean
        summed = self.summed + deviation * self.number / number - delta
        return _Walk(number, self.mean + deviation / number, summed, min(self.lowest, summed))
