"""Control charts (statistical process control): k sigma, CUSUM, EWMA and Page-Hinkley over a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from math import sqrt
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from turngate.agent.gate import Decision, Past, Reading, Readings
from turngate.component import ComponentConfig
from turngate.frozen import StrictModel

__all__ = ["Cusum", "Ewma", "KSigma", "PageHinkley"]


# The scores that control charts fold over, in better units: origin and present lineage.


def lineage(past: Past, evaluator: str) -> list[float]:
    """Goodness of the accepted images that led to the current one, oldest first.

    Rejected candidates are not among them, a rollback takes out what it undid, and an image that the evaluator gave
    no score (taken by `on_unscored: accept`) is passed over.
    """
    return [image.readings[evaluator].oriented_score for image in past.accepted if evaluator in image.readings]


def origin(past: Past, evaluator: str) -> list[float]:
    """Goodness of the origin, or nothing when it has no score."""
    return [past.origin[evaluator].oriented_score] if evaluator in past.origin else []


class KnownBaseline(StrictModel, allow_inf_nan=False):
    """Mean and SD that are known before the run, from sound images for instance."""

    mean: float = Field(ge=-1e100, le=1e100)
    """Mean score, in the evaluator's unit."""
    sd: float = Field(gt=0, le=1e100)
    """Standard deviation, in the evaluator's unit."""


class BaselineConfig(ComponentConfig):
    """Settings shared by the gates that count in standard deviations."""

    evaluator: str
    """Name of the evaluator in the run."""
    warmup: int = Field(default=5, ge=2, le=1000)
    """Number of accepted images, from the first one on, whose scores make the baseline."""
    with_origin: bool = False
    """Count the origin's score in the baseline as well, beside those of the warm-up."""
    in_warmup: Literal["accept", "reject"] = "accept"
    """What happens to candidates until the warm-up is full; under `reject` only forced accepts can fill it."""
    sd_floor: float = Field(default=1e-6, ge=1e-12, le=1e100)
    """Smallest SD that is believed, in the evaluator's unit: after equal scores any change would be an alarm."""
    baseline: KnownBaseline | None = None
    """Known mean and SD; there is no warm-up then and every accepted image is watched."""


@dataclass(frozen=True)
class Standardised:
    """Scores in SDs worse than the baseline's mean: 0 is as usual, larger is worse."""

    reading: Reading
    """The candidate's score."""
    mean: float
    """In the evaluator's unit."""
    sd: float
    """In the evaluator's unit, never below the floor."""
    watched: tuple[float, ...]
    """The accepted images after the warm-up, oldest first."""
    candidate: float

    def value_at(self, worse_by: float) -> float:
        """The score, in the evaluator's unit, that lies `worse_by` SDs on the worse side of the mean."""
        step = worse_by * self.sd
        return self.mean - step if self.reading.direction == "higher" else self.mean + step

    def decision(self, name: str, statistic: float, limit: float, worst: float) -> Decision:
        """Reject when `statistic` (called `name`) is beyond `limit`; a candidate `worst` SDs worse is just accepted."""
        accept = statistic <= limit
        reason = (
            f"{self.reading.evaluator} {self.reading.value:.4g}: {name} {statistic:.3g} "
            f"{'within' if accept else 'beyond'} {limit:.3g} (usual {self.mean:.4g}, SD {self.sd:.3g})"
        )
        evidence = {"value": self.reading.value, "mean": self.mean, "sd": self.sd, "statistic": statistic}
        thresholds = {self.reading.evaluator: self.value_at(worst)}
        return Decision("accept" if accept else "reject", reason, {**evidence, "limit": limit}, thresholds)


def standardise(config: BaselineConfig, scores: Readings, past: Past) -> Standardised | Decision:
    """The candidate and the watched part of its lineage; until the warm-up is full, the decision about it."""
    reading = scores[config.evaluator]
    sign = 1.0 if reading.direction == "higher" else -1.0
    accepted = lineage(past, config.evaluator)
    if config.baseline is not None:
        mean, sd = sign * config.baseline.mean, config.baseline.sd
    elif len(accepted) < config.warmup:
        reason = f"{reading.evaluator} {reading.value:.4g}: warm-up, {len(accepted)} of {config.warmup} scores so far"
        return Decision(config.in_warmup, reason, {"value": reading.value, "scores": float(len(accepted))})
    else:
        usual = accepted[: config.warmup] + (origin(past, config.evaluator) if config.with_origin else [])
        mean, sd = float(np.mean(usual)), float(np.std(usual, ddof=1))
        accepted = accepted[config.warmup :]
    sd = max(sd, config.sd_floor)
    watched = tuple((mean - score) / sd for score in accepted)
    return Standardised(reading, sign * mean, sd, watched, (mean - reading.oriented_score) / sd)


# Rejects what is more than k standard deviations worse than usual: a Shewhart chart (Shewhart 1931).


class KSigmaConfig(BaselineConfig):
    """How far from usual is too far."""

    k: float = Field(default=3.0, gt=0, le=1000)
    """SDs on the worse side that are still accepted."""


class KSigma:
    """Accepts while one score is at most k SDs worse than the mean of a warm-up; looks at the candidate alone."""

    Config: ClassVar[type[ComponentConfig]] = KSigmaConfig
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


# Cumulative sum of what is worse than usual: notices small shifts that last (Page 1954).


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

    Config: ClassVar[type[ComponentConfig]] = CusumConfig
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
            return replace(one_sided, evidence=evidence)
        reason = seen.decision("CUSUM of the better side", better, h, 0.0).reason
        return replace(one_sided, verdict="reject", reason=reason, evidence=evidence)

    def _sum(self, watched: tuple[float, ...], sign: int) -> float:
        *_, last = accumulate(watched, lambda total, z: max(0.0, total + sign * z - self.config.k), initial=0.0)
        return last


# Exponentially weighted moving average of a score against its own control limit (Roberts 1959).


class EwmaConfig(BaselineConfig):
    """Weight of the newest score, and width of the control limit."""

    weight: float = Field(default=0.2, gt=0, le=1)
    """Lambda: share of the newest score in the average, 0..1; 1 is `k_sigma`."""
    width: float = Field(default=3.0, gt=0, le=1000)
    """L: control limit, in SDs of the average."""


class Ewma:
    """Accepts while the moving average of one score is at most L of its own SDs worse than usual."""

    Config: ClassVar[type[ComponentConfig]] = EwmaConfig
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


# Page-Hinkley test: a score that stays worse than its own running mean (Page 1954; Hinkley 1971).


class PageHinkleyConfig(ComponentConfig):
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

    Config: ClassVar[type[ComponentConfig]] = PageHinkleyConfig
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
        after = before.step(-reading.oriented_score, delta)
        statistic = after.summed - after.lowest
        evidence = {"value": reading.value, "scores": float(before.number), "statistic": statistic, "limit": threshold}
        if before.number < self.config.warmup:
            reason = f"{name} {reading.value:.4g}: warm-up, {before.number} of {self.config.warmup} scores so far"
            return Decision("accept", reason, evidence)
        thresholds = {}
        if before.number:
            worst = before.mean + (threshold + before.lowest - before.summed + delta) * after.number / before.number
            thresholds[name] = -worst if reading.direction == "higher" else worst
        accept = statistic <= threshold
        reason = (
            f"{name} {reading.value:.4g}: Page-Hinkley {statistic:.3g} {'within' if accept else 'beyond'} "
            f"{threshold:.3g} after {before.number} scores"
        )
        return Decision("accept" if accept else "reject", reason, evidence, thresholds)


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
