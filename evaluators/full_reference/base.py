"""What full-reference metrics share: which image is the reference, and bringing the candidate onto it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from turngate.component import ComponentConfig
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.registration import Align, AlignedImages, register
from turngate.evaluators.result import IDENTICAL, Result, Score, Skipped, Unscored

if TYPE_CHECKING:
    from turngate.picture import Picture

__all__ = ["FullReference", "FullReferenceConfig", "described", "reference_of", "size_scored"]


class FullReferenceConfig(ComponentConfig):
    """What to compare with, and how."""

    against: Literal["origin", "previous"] = "origin"
    """The reference: the origin, or the image that was edited."""
    align: Align = "none"
    """What is undone first. `none`: nothing; `shift`: a translation of the whole image; `crop`: a translation and a
    scale along each axis, as by a crop that was enlarged back; `full`: that, mirroring and quarter turns."""


class FullReference(ABC):
    """Base of metrics that compare a candidate with its origin or with the image that was edited."""

    Config: ClassVar[type[ComponentConfig]] = FullReferenceConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts: Facts
    """Of the metric against the origin; an instance's say what it really needs."""

    def __init__(self, config: FullReferenceConfig) -> None:
        self.config = config
        self.facts = replace(
            type(self).facts,
            inputs=frozenset({"candidate", config.against}),
            size_scored=size_scored(config.align),
        )

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score each candidate against its own reference."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: EvalInput) -> Result:
        reference = reference_of(sample, self.config.against)
        if reference is None:
            return Unscored("no_reference", f"{self.facts.name} needs the {self.config.against}")
        pair = register(sample.candidate, reference, self.config.align)
        result = described(self._compare(pair), pair)
        return result.rounded() if isinstance(result, Score) else result

    @abstractmethod
    def _compare(self, pair: AlignedImages) -> Result:
        """The result for two images on one pixel grid; what registration found is added to it."""


def reference_of(sample: EvalInput, against: Literal["origin", "previous"]) -> Picture | None:
    """The image to compare with, where the sample has it."""
    return sample.origin if against == "origin" else sample.previous


def described(result: Result, pair: AlignedImages) -> Result:
    """The result with what registration found: its numbers among the components, its words among the flags.

    A score of two images with the same pixels has the flag `identical`.
    """
    if isinstance(result, Skipped):
        return result
    flags = (*pair.flags, *result.flags)
    if isinstance(result, Score):
        if pair.identical:
            flags = (*flags, IDENTICAL)
        return replace(result, components={**result.components, **pair.components}, flags=flags)
    return replace(result, flags=flags)


def size_scored(align: Align) -> str:
    """For the facts: the pixel grid on which two images are compared."""
    if align in ("none", "shift"):
        return "the reference's"
    return "the candidate's, the reference's where the scales differ by more than a quarter"
