"""Drift: how far recursive editing has worn an image, measured against the origin or the first accepted image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from turngate.evaluators._drift_value import ALARM, EXPONENT, UNITS, combine, scored
from turngate.evaluators.drift.meter import SMALLEST, Meter
from turngate.evaluators.evaluator import Facts, Sample
from turngate.evaluators.result import Result, Unscored
from turngate.part import PartConfig

__all__ = ["ALARM", "EXPONENT", "UNITS", "Drift", "DriftConfig", "combine"]


class DriftConfig(PartConfig):
    """Drift is measured against a fixed image of the chain, never the previous one (slow drift would pass)."""

    reference: Literal["origin", "first"] = "origin"
    """`origin`: the image before turn 1. `first`: the first accepted image, which forgives what one edit costs."""


class Drift:
    """Chain-aware drift since a reference image: nine kinds of wear, 1.0 is the alarm.

    Value: (sum over components of (component / alarm level)^3)^(1/3), 0 for no drift, no upper limit. The candidate is
    registered to the reference (crop, shift, scale, brightness), tiles whose content was replaced are left out, and
    what grew in the others is measured. Sources: the lattice test follows the idea of Mi-Ripple (arXiv 2609.11317,
    spectral peaks that recursion plants); the rest is our own, formulas in docs/drift.md.
    """

    Config: ClassVar[type[PartConfig]] = DriftConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: DriftConfig) -> None:
        self.config = config
        self.facts = Facts(
            name="drift",
            version="2",
            direction="lower",
            range=(0.0, float("inf")),
            needs=frozenset({"candidate", config.reference}),
            min_size=SMALLEST,
            preferred_size=512,
            source="turngate, docs/drift.md",
            size_scored="native; of two images of different scale the larger is shrunk to the smaller's",
        )
        self._meter = Meter()

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        """Score each sample by itself.

        `Unscored`: `no_reference`, `too_small` (either image below 64 pixels a side, or what both show below a tile),
        `flat` (the reference has a luma deviation below one grey level: nothing to compare with).
        """
        return [self._evaluate(sample) for sample in batch]

    def _evaluate(self, sample: Sample) -> Result:
        reference = sample.origin if self.config.reference == "origin" else sample.first
        if reference is None:
            return Unscored("no_reference", f"drift needs the {self.config.reference} image")
        measured = self._meter.growth(reference, sample.candidate)
        return measured if isinstance(measured, Unscored) else scored(*measured)
