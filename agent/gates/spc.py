"""What a score is while nothing is wrong: mean and SD of a warm-up, or known beforehand. Helper of the SPC gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from turngate.agent.gate import Decision, Past, Reading, Readings
from turngate.agent.gates._stream import goodness, lineage, origin
from turngate.part import PartConfig

__all__ = ["BaselineConfig", "KnownBaseline", "Standardised", "standardise"]


class KnownBaseline(BaseModel):
    """Mean and SD that are known before the run, from sound images for instance."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)

    mean: float = Field(ge=-1e100, le=1e100)
    """Mean score, in the evaluator's unit."""
    sd: float = Field(gt=0, le=1e100)
    """Standard deviation, in the evaluator's unit."""


class BaselineConfig(PartConfig):
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
        return Decision(
            "accept" if accept else "reject", reason, {**evidence, "limit": limit, "threshold": self.value_at(worst)}
        )


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
    return Standardised(reading, sign * mean, sd, watched, (mean - goodness(reading)) / sd)
