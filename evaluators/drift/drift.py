"""Drift: how far recursive editing has worn an image, against one reference (`drift`) or along the chain
(`drift_chain`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, Literal

from turngate.component import ComponentConfig
from turngate.evaluators.drift.growth import Growth, add, components
from turngate.evaluators.drift.meter import SMALLEST, DriftMeter
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.registration import same_pixels
from turngate.evaluators.result import DIGITS, IDENTICAL, Result, Score, Unscored

__all__ = ["ALARM", "EXPONENT", "UNITS", "Drift", "DriftChain", "DriftConfig", "combine", "scored"]


# One number from the components of drift, and their words.

ALARM: Mapping[str, float] = {
    "noise": 2.0, "residual": 2.2, "texture": 1.25, "blur": 0.15, "contrast": 0.6, "halo": 6.0, "lattice": 9.0,
    "chroma": 7.5, "tone": 5.0,
}  # fmt: skip
"""Level of each component, in its unit, that alone gives a drift of 1.0 (set on clean edits, see `docs/drift.md`)."""

UNITS: Mapping[str, str] = {
    "noise": "grey levels", "residual": "grey levels", "texture": "octaves", "blur": "octaves", "contrast": "octaves",
    "halo": "grey levels", "lattice": "dB", "chroma": "grey levels", "tone": "grey levels",
}  # fmt: skip
"""Unit of each component."""

EXPONENT = 3
"""Order of the norm that joins the components: near the largest one, a little more when several have grown."""


def combine(found: Mapping[str, float]) -> float:
    """Drift of nine components: the norm of order `EXPONENT` of component / `ALARM`."""
    return float(sum((found[name] / level) ** EXPONENT for name, level in ALARM.items()) ** (1 / EXPONENT))


def scored(grown: Growth, flags: tuple[str, ...]) -> Score:
    """The score of a growth, with its components in their units and a sentence from the heaviest to the lightest."""
    found = {name: round(part, DIGITS) for name, part in components(grown).items()}
    value = round(combine(found), DIGITS)
    order = sorted(ALARM, key=lambda name: -found[name] / ALARM[name])
    explanation = ", ".join(
        f"{name} {found[name]:.2f} {UNITS[name]} ({found[name] / ALARM[name]:.0%} of alarm)" for name in order
    )
    return Score(value, "drifted" if value >= 1 else "steady", explanation, found, flags).rounded()


class DriftConfig(ComponentConfig):
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

    Config: ClassVar[type[ComponentConfig]] = DriftConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: DriftConfig) -> None:
        self.config = config
        self.facts = Facts(
            name="drift",
            version="3",
            direction="lower",
            range=(0.0, float("inf")),
            inputs=frozenset({"candidate", config.reference}),
            min_size=SMALLEST,
            preferred_size=512,
            source="turngate, docs/drift.md",
            size_scored="native; of two images of different scale the larger is shrunk to the smaller's",
        )
        self._meter = DriftMeter()

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score each sample by itself.

        `Unscored`: `no_reference`, `too_small` (either image below 64 pixels a side, or what both show below a tile),
        `flat` (the reference has a luma deviation below one grey level: nothing to compare with).
        """
        return [self._evaluate(sample) for sample in batch]

    def _evaluate(self, sample: EvalInput) -> Result:
        reference = sample.origin if self.config.reference == "origin" else sample.first
        if reference is None:
            return Unscored("no_reference", f"drift needs the {self.config.reference} image")
        measured = self._meter.growth(reference, sample.candidate)
        if isinstance(measured, Unscored):
            return measured
        grown, flags = measured
        return scored(grown, (*flags, IDENTICAL) if same_pixels(sample.candidate, reference) else flags)


# Drift along a chain: the wear of every accepted step added up, without the origin.


class DriftChainConfig(ComponentConfig):
    """There is nothing to set."""


class DriftChain:
    """Drift since the first accepted image, as the sum of what each step of the chain did outside of its own edit.

    Each accepted image is compared with the one before it and the candidate with the last; in every step the tiles
    whose content was replaced are left out, so a chain that adds an object every turn is not counted as worn. Signed
    quantities add up (a loss cancels a gain), energies add up as they are: see docs/drift.md. Components, levels and
    norm are those of `drift`; what turn 1 costs is not seen.
    """

    Config: ClassVar[type[ComponentConfig]] = DriftChainConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: DriftChainConfig) -> None:
        self.config = config
        self.facts = Facts(
            name="drift_chain",
            version="2",
            direction="lower",
            range=(0.0, float("inf")),
            inputs=frozenset({"candidate", "history"}),
            min_size=SMALLEST,
            preferred_size=512,
            source="turngate, docs/drift.md",
            size_scored="native; of two neighbours of different scale the larger is shrunk to the smaller's",
        )
        self._meter = DriftMeter()

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score each sample by itself.

        `Unscored`: `no_reference` (no image was accepted yet), `too_small` and `flat` as in `drift`, for any step.
        """
        return [self._evaluate(sample) for sample in batch]

    def _evaluate(self, sample: EvalInput) -> Result:
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
