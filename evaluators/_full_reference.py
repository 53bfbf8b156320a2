"""What full-reference metrics share: which image is the reference, and bringing the candidate onto it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from turngate.evaluators.evaluator import Facts, Sample
from turngate.evaluators.registration import Align, Pair, register
from turngate.evaluators.result import Result, Unscored
from turngate.part import PartConfig

__all__ = ["FullReference", "FullReferenceConfig"]


class FullReferenceConfig(PartConfig):
    """What to compare with, and how."""

    against: Literal["origin", "previous"] = "origin"
    """The reference: the origin, or the image that was edited."""
    align: Align = "none"
    """`shift`: undo a translation of the whole image first."""


class FullReference(ABC):
    """Base of metrics that compare a candidate with its origin or with the image that was edited."""

    Config: ClassVar[type[PartConfig]] = FullReferenceConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts: Facts
    """Of the metric against the origin; an instance's say what it really needs."""

    def __init__(self, config: FullReferenceConfig) -> None:
        self.config = config
        self.facts = replace(type(self).facts, needs=frozenset({"candidate", config.against}))

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        """Score each candidate against its own reference."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: Sample) -> Result:
        reference = sample.origin if self.config.against == "origin" else sample.previous
        if reference is None:
            return Unscored("no_reference", f"{self.facts.name} needs the {self.config.against}")
        return self._compare(register(sample.candidate, reference, self.config.align))

    @abstractmethod
    def _compare(self, pair: Pair) -> Result:
        """The result for two images on one pixel grid; the pair's flags go into the score."""
