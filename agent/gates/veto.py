"""Any evaluator beyond its own limit rejects: a good score elsewhere cannot make up for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from turngate.agent.gate import Decision, Past, Readings
from turngate.agent.gates._stream import goodness
from turngate.part import PartConfig

__all__ = ["Limit", "Veto", "VetoConfig"]


class Limit(BaseModel):
    """What one evaluator may not go beyond."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)

    min: float | None = None
    """Smallest value that is accepted, in the evaluator's unit, whichever way is better."""
    max: float | None = None
    """Largest value that is accepted, in the evaluator's unit, whichever way is better."""
    worse_than_origin: float | None = Field(default=None, ge=0)
    """How much worse than the origin's score is still accepted, in the evaluator's unit."""

    @model_validator(mode="after")
    def _says_something(self) -> Limit:
        if self.min is None and self.max is None and self.worse_than_origin is None:
            raise ValueError("give min, max or worse_than_origin")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is above max, so nothing is accepted")
        return self


class VetoConfig(PartConfig):
    """One limit or more for each evaluator."""

    limits: dict[str, Limit] = Field(min_length=1)
    """Name of an evaluator in the run -> its limit."""


class Veto:
    """Accepts while every evaluator is within its own limit: scores do not compensate each other."""

    Config: ClassVar[type[PartConfig]] = VetoConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: VetoConfig) -> None:
        self.config = config
        self.reads = frozenset(config.limits)

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold each score against its limit; one that is relative to an origin without a score does not bite."""
        vetoes: dict[str, str] = {}
        evidence: dict[str, float | str | None] = {}
        for name, limit in self.config.limits.items():
            reading, start = scores[name], past.origin.get(name)
            worse_by = goodness(start) - goodness(reading) if start is not None else None
            evidence[name] = reading.value
            evidence |= {f"{name}.{kind}": bound for kind, bound in limit.model_dump(exclude_none=True).items()}
            if limit.worse_than_origin is not None:
                evidence[f"{name}.worse_by"] = worse_by
            broken = _broken(reading.value, worse_by, limit)
            if broken:
                vetoes[name] = f"{name} {reading.value:.4g} {broken}"
        evidence["vetoed_by"] = ", ".join(vetoes) or None
        if vetoes:
            return Decision("reject", "; ".join(vetoes.values()), evidence)
        values = ", ".join(f"{name} {scores[name].value:.4g}" for name in self.config.limits)
        return Decision("accept", f"within every limit: {values}", evidence)


def _broken(value: float, worse_by: float | None, limit: Limit) -> str:
    """What the score goes beyond, in words; empty when it is within the limit."""
    if limit.min is not None and value < limit.min:
        return f"< {limit.min:.4g}"
    if limit.max is not None and value > limit.max:
        return f"> {limit.max:.4g}"
    if worse_by is not None and limit.worse_than_origin is not None and worse_by > limit.worse_than_origin:
        return f"is {worse_by:.3g} worse than the origin (limit {limit.worse_than_origin:.3g})"
    return ""
