"""Control charts (statistical process control): k sigma, CUSUM, EWMA and Page-Hinkley over a baseline.

Share of runs in which a sound image is refused by turn 25 / 100 after the warm-up, on independent normal scores, with
the defaults (`benchmarks/charts.py`; docs/gates.md has heavy tails, correlation, slow decay and other warm-ups):

- `k_sigma`: 2 % / 6 % after a warm-up of 10, 3 % / 13 % with a known baseline;
- `cusum`: 3 % / 8 %, and 2 % / 8 %;
- `ewma`: 1 % / 2 %, and 3 % / 8 %;
- `page_hinkley`, which has no defaults, with `delta` 0.5 and `threshold` 5 SDs: 1 % / 7 %.

None of it holds for sound images whose scores slide: what goes on worsening is what the charts are made to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from math import expm1, sqrt
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from turngate.agent.gate import CalibratedConfig, Decision, Past, Reading, Readings
from turngate.component import ComponentConfig
from turngate.errors import counted
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
    relative_to_origin: bool = False
    """Mean and SD are those of score minus the origin's score: they then fit other photographs better."""


class BaselineConfig(CalibratedConfig):
    """Settings shared by the gates that count in standard deviations.

    Mean and SD of a warm-up are estimates, and the limits are widened for that: `k`, `h` and `width` say what
    they would be with a known baseline.
    """

    evaluator: str
    """Name of the evaluator in the run."""
    warmup: int = Field(default=10, ge=2, le=1000)
    """Number of accepted images, from the first one on, whose scores make the baseline. Whatever changes within it,
    damage or slow decay, is taken for usual; fewer mean wider limits."""
    with_origin: bool = False
    """Count the origin's score in the baseline as well, beside those of the warm-up."""
    in_warmup: Literal["accept", "reject"] = "accept"
    """What happens to candidates until the warm-up is full; under `reject` only forced accepts can fill it."""
    sd_floor: float = Field(default=1e-6, ge=1e-12, le=1e100)
    """Smallest SD that is believed, in the evaluator's unit: after equal scores any change would be an alarm."""
    baseline: KnownBaseline | None = None
    """Known mean and SD, as `turngate calibrate --chart` prints them; there is no warm-up then and every accepted image
    is watched."""


def student(sds: float, scores: int) -> float:
    """How many SDs, estimated from `scores` scores, are as rare as `sds` true ones: a Student quantile, >= `sds`.

    Wallace's closed form (Ann. Math. Stat. 30, 1959): v = scores - 1 degrees of freedom,
    t = sqrt(v (exp(((8 v + 3) / (8 v + 1) sds)^2 / v) - 1)). From 9 degrees on it is within 0.3 % of the exact quantile
    at 3 SDs, below it is too wide (3 % at 4 degrees). It stays finite where the tail is 0 in floating point.
    """
    freedom = scores - 1
    exponent = ((8 * freedom + 3) / (8 * freedom + 1) * sds) ** 2 / freedom
    return sqrt(freedom * expm1(min(exponent, 400.0)))  # e^200 SDs are as good as no limit


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
    """The candidate's."""
    scores: int | None
    """Number of scores that mean and SD are estimated from; None when they are known."""

    @property
    def mean_error(self) -> float:
        """Standard error of the mean, in SDs; 0 when it is known."""
        return 0.0 if self.scores is None else 1 / sqrt(self.scores)

    def widened(self, sds: float) -> float:
        """A limit of `sds` true SDs as a limit in estimated ones."""
        return sds if self.scores is None else student(sds, self.scores)

    def _of(self) -> str:
        return "" if self.scores is None else f", of {counted(self.scores, 'score')}"

    def value_at(self, worse_by: float) -> float:
        """The score, in the evaluator's unit, that lies `worse_by` SDs on the worse side of the mean."""
        step = worse_by * self.sd
        return self.mean - step if self.reading.direction == "higher" else self.mean + step

    def decision(self, name: str, statistic: float, limit: float, worst: float) -> Decision:
        """Reject when `statistic` (called `name`) is beyond `limit`; a candidate `worst` SDs worse is just accepted."""
        accept = statistic <= limit
        reason = (
            f"{self.reading.evaluator} {self.reading.value:.4g}: {name} {statistic:.3g} "
            f"{'within' if accept else 'beyond'} {limit:.3g} (usual {self.mean:.4g}, SD {self.sd:.3g}{self._of()})"
        )
        evidence = {"value": self.reading.value, "mean": self.mean, "sd": self.sd, "statistic": statistic}
        thresholds = {self.reading.evaluator: self.value_at(worst)}
        return Decision("accept" if accept else "reject", reason, {**evidence, "limit": limit}, thresholds)


def standardise(config: BaselineConfig, scores: Readings, past: Past) -> Standardised | Decision:
    """The candidate and the watched part of its lineage; until the warm-up is full, the decision about it."""
    reading = scores[config.evaluator]
    sign = 1.0 if reading.direction == "higher" else -1.0
    accepted, start = lineage(past, config.evaluator), origin(past, config.evaluator)
    if (known := config.baseline) is not None:
        if known.relative_to_origin and not start:
            reason = f"{reading.evaluator} {reading.value:.4g}: the origin has no score to compare with"
            return Decision("accept", reason, {"value": reading.value})
        mean = sign * known.mean + (start[0] if known.relative_to_origin else 0.0)
        sd, number = known.sd, None
    elif len(accepted) < config.warmup:
        seen = f"{len(accepted)} of {counted(config.warmup, 'score')}"
        reason = f"{reading.evaluator} {reading.value:.4g}: warm-up, {seen} so far"
        return Decision(config.in_warmup, reason, {"value": reading.value, "scores": float(len(accepted))})
    else:
        usual = accepted[: config.warmup] + (start if config.with_origin else [])
        mean, sd, number = float(np.mean(usual)), float(np.std(usual, ddof=1)), len(usual)
        accepted = accepted[config.warmup :]
    sd = max(sd, config.sd_floor)
    watched = tuple((mean - score) / sd for score in accepted)
    return Standardised(reading, sign * mean, sd, watched, (mean - reading.oriented_score) / sd, number)


# Rejects what is more than k standard deviations worse than usual: a Shewhart chart (Shewhart 1931).


class KSigmaConfig(BaselineConfig):
    """How far from usual is too far."""

    k: float = Field(default=3.0, gt=0, le=1000)
    """SDs on the worse side that are still accepted: 3 refuses one normal score of 740. After a warm-up of n scores the
    limit is a Student quantile of the same rate times sqrt(1 + 1/n): 4.3 estimated SDs after 10, 3.5 after 20."""


class KSigma:
    """Accepts while one score is at most k SDs worse than the mean of a warm-up; looks at the candidate alone."""

    Config: ClassVar[type[ComponentConfig]] = KSigmaConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: KSigmaConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold the candidate's distance from the baseline against k; a better score is never rejected.

        With an estimated baseline against the prediction limit t sqrt(1 + 1/n), t from `student`: for normal scores the
        rate of one candidate is then that of a known baseline.
        """
        seen = standardise(self.config, scores, past)
        if isinstance(seen, Decision):
            return seen
        limit = seen.widened(self.config.k) * sqrt(1 + seen.mean_error**2)
        return seen.decision("SDs worse", seen.candidate, limit, limit)


# Cumulative sum of what is worse than usual: notices small shifts that last (Page 1954).


class CusumConfig(BaselineConfig):
    """Reference value and decision interval, in SDs of the baseline."""

    k: float = Field(default=0.5, gt=0, le=1000)
    """Reference value: half the shift that is to be found, in SDs. Smaller worsening does not add up. After a warm-up
    one standard error of its mean is added: what looks like a lasting shift may be that error."""
    h: float = Field(default=5.0, gt=0, le=1e6)
    """Decision interval, in SDs: the sum that is still accepted; after a warm-up it is widened as 3 SDs are."""
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

        A rejected candidate leaves no trace: the next one starts from the lineage's sum. With a baseline of n scores,
        k + 1/sqrt(n) takes the place of k and h t/3 that of h, t the Student quantile as rare as 3 SDs: a rule of ours,
        by which the measured share of false alarms is about that of a known baseline.
        """
        seen = standardise(self.config, scores, past)
        if isinstance(seen, Decision):
            return seen
        k, h = self.config.k + seen.mean_error, self.config.h * seen.widened(3.0) / 3.0
        before = _cusum(seen.watched, k)
        worse = max(0.0, before + seen.candidate - k)
        one_sided = seen.decision("CUSUM", worse, h, h - before + k)
        if not self.config.two_sided:
            return one_sided
        better = max(0.0, _cusum([-z for z in seen.watched], k) - seen.candidate - k)
        evidence = {**one_sided.evidence, "statistic_better": better}
        if better <= h or one_sided.verdict == "reject":
            return replace(one_sided, evidence=evidence)
        reason = seen.decision("CUSUM of the better side", better, h, 0.0).reason
        return replace(one_sided, verdict="reject", reason=reason, evidence=evidence)


def _cusum(worse: Iterable[float], k: float) -> float:
    return reduce(lambda total, z: max(0.0, total + z - k), worse, 0.0)


# Exponentially weighted moving average of a score against its own control limit (Roberts 1959).


class EwmaConfig(BaselineConfig):
    """Weight of the newest score, and width of the control limit."""

    weight: float = Field(default=0.2, gt=0, le=1)
    """Lambda: share of the newest score in the average, 0..1; 1 is `k_sigma`."""
    width: float = Field(default=3.0, gt=0, le=1000)
    """L: control limit, in SDs of the average; after a warm-up a Student quantile of the same rate."""


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

        Reject when Z_n > L sqrt(w / (2 - w) (1 - (1 - w)^(2n)) + (1 - (1 - w)^n)^2 / m): the exact SD of the n-th
        average, in SDs of z. The second term is the error of the mean of m warm-up scores, 0 when it is known. With a
        warm-up a Student quantile takes the place of L: for independent normal scores each turn has then the rate of a
        known baseline.
        """
        seen = standardise(self.config, scores, past)
        if isinstance(seen, Decision):
            return seen
        w, number = self.config.weight, len(seen.watched) + 1
        before = reduce(lambda average, z: w * z + (1 - w) * average, seen.watched, 0.0)
        average = w * seen.candidate + (1 - w) * before
        variance = w / (2 - w) * (1 - (1 - w) ** (2 * number)) + ((1 - (1 - w) ** number) * seen.mean_error) ** 2
        limit = seen.widened(self.config.width) * sqrt(variance)
        return seen.decision("EWMA", average, limit, (limit - (1 - w) * before) / w)


# Page-Hinkley test: a score that stays worse than its own running mean (Page 1954; Hinkley 1971).


class PageHinkleyConfig(CalibratedConfig):
    """Tolerance and alarm level, in the evaluator's unit: it learns no SD, so know that of sound scores."""

    evaluator: str
    """Name of the evaluator in the run."""
    delta: float = Field(ge=0, le=1e100)
    """Worsening per image that is tolerated, in the evaluator's unit; half an SD of sound scores is a good start. With
    0 the sum wanders: at a threshold of 5 SDs nearly every run of 100 turns had a false alarm."""
    threshold: float = Field(gt=0, le=1e100)
    """Lambda: the worsening, summed over images, that is still accepted, in the evaluator's unit; 5 SDs go with a
    `delta` of half an SD."""
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
            reason = (
                f"{name} {reading.value:.4g}: warm-up, {before.number} of {counted(self.config.warmup, 'score')} so far"
            )
            return Decision("accept", reason, evidence)
        thresholds = {}
        if before.number:
            worst = before.mean + (threshold + before.lowest - before.summed + delta) * after.number / before.number
            thresholds[name] = -worst if reading.direction == "higher" else worst
        accept = statistic <= threshold
        reason = (
            f"{name} {reading.value:.4g}: Page-Hinkley {statistic:.3g} {'within' if accept else 'beyond'} "
            f"{threshold:.3g} after {counted(before.number, 'score')}"
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
