"""Drift along a chain: the wear of every accepted step added up, without the origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from turngate.evaluators._drift_value import scored
from turngate.evaluators.drift.growth import Growth, add
from turngate.evaluators.drift.meter import SMALLEST, Meter
from turngate.evaluators.evaluator import Facts, Sample
from turngate.evaluators.result import Result, Unscored
from turngate.part import PartConfig

__all__ = ["DriftChain", "DriftChainConfig"]


class DriftChainConfig(PartConfig):
    """There is nothing to set."""


class DriftChain:
    """Drift since the first accepted image, as the sum of what each step of the chain did outside of its own edit.

    Each accepted image is compared with the one before it and the candidate with the last; in every step the tiles
    whose content was replaced are left out, so a chain that adds an object every turn is not counted as worn. Signed
    quantities add up (a loss cancels a gain), energies add up as they are: see docs/drift.md. Components, levels and
    norm are those of `drift`; what turn 1 costs is not seen.
    """

    Config: ClassVar[type[PartConfig]] = DriftChainConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: DriftChainConfig) -> None:
        self.config = config
        self.facts = Facts(
            name="drift_chain",
            version="1",
            direction="lower",
            range=(0.0, float("inf")),
            needs=frozenset({"candidate", "history"}),
            min_size=SMALLEST,
            preferred_size=512,
            source="turngate, docs/drift.md",
            size_scored="native; of two neighbours of different scale the larger is shrunk to the smaller's",
        )
        self._meter = Meter()

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        """Score each sample by itself.

        `Unscored`: `no_reference` (no image was accepted yet), `too_small` and `flat` as in `drift`, for any step.
        """
        return [self._evaluate(sample) for sample in batch]

    def _evaluate(self, sample: Sample) -> Result:
        if not sample.history:
            return Unscored("no_reference", "drift_chain needs an accepted image before the candidate")
        steps: list[Growth] = []
        flags: tuple[str, ...] = ()
        for before, after in pairwise((*sample.history, sample.candidate)):
            measured = self._meter.growth(before, after)
            if isinstance(measured, Unscored):
                return measured
            steps.append(measured[0])
            flags = measured[1]
        return scored(add(steps), flags)
