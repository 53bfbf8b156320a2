"""Threshold relative to the first accepted image, the current one, the best so far, or the origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from turngate.agent.gate import Decision, Past, Reading, Readings
from turngate.agent.gates._stream import goodness
from turngate.part import PartConfig

__all__ = ["Relative", "RelativeConfig"]

Reference = Literal["first", "previous", "origin", "best"]


class RelativeConfig(PartConfig):
    """Accept while the score is at most `margin` worse than the reference's."""

    evaluator: str
    """Name of the evaluator in the run."""
    reference: Reference
    """`first`: the first accepted image; `previous`: the current image; `origin`; `best`: the best of the lineage."""
    margin: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """How much worse is still accepted, in the evaluator's unit, whichever way is better."""


class Relative:
    """Accepts while one score is at most a margin worse than a reference image's."""

    Config: ClassVar[type[PartConfig]] = RelativeConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads_truth = False

    def __init__(self, config: RelativeConfig) -> None:
        self.config = config
        self.reads = frozenset({config.evaluator})

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Hold the score against the reference's; without a reference the candidate becomes it and is accepted."""
        reading = scores[self.config.evaluator]
        reference = self._reference(past)
        if reference is None:
            reason = f"{reading.evaluator} {reading.value:.4g}: no {self.config.reference} image to compare with yet"
            return Decision("accept", reason, {"value": reading.value, "reference": None})
        worse_by = goodness(reference) - goodness(reading)
        accept = worse_by <= self.config.margin
        which = {"first": "first accepted", "previous": "previous", "origin": "origin", "best": "best"}
        reason = (
            f"{reading.evaluator} {reading.value:.4g} is {abs(worse_by):.3g} {'worse' if worse_by > 0 else 'better'} "
            f"than {which[self.config.reference]} {reference.value:.4g} (margin {self.config.margin:.3g})"
        )
        evidence = {"value": reading.value, "reference": reference.value, "worse_by": worse_by}
        return Decision("accept" if accept else "reject", reason, {**evidence, "margin": self.config.margin})

    def _reference(self, past: Past) -> Reading | None:
        name = self.config.evaluator
        match self.config.reference:
            case "first":
                return past.first.get(name) if past.first else None
            case "previous":
                return past.previous.get(name)
            case "origin":
                return past.origin.get(name)
            case "best":
                seen = [past.origin, *(image.readings for image in past.accepted)]
                return max((r[name] for r in seen if name in r), key=lambda r: r.goodness, default=None)
