"""PSNR against the origin or the image that was edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from turngate.evaluators.evaluator import Facts, Sample
from turngate.evaluators.registration import Align, register
from turngate.evaluators.result import Result, Score, Unscored
from turngate.part import PartConfig

__all__ = ["Psnr", "PsnrConfig"]

_EPSILON = 1e-8
"""pyiqa's: identical images give 80 dB instead of infinity."""


class PsnrConfig(PartConfig):
    """What to compare with, and how."""

    against: Literal["origin", "previous"] = "origin"
    """The reference: the origin, or the image that was edited."""
    align: Align = "none"
    """`shift`: undo a translation of the whole image first."""


class Psnr:
    """Peak signal-to-noise ratio to a reference, in dB over all three channels; 80 dB when identical.

    10 log10(1 / (mse + 1e-8)) with the mean squared error of pixels in 0..1: pyiqa's `psnr`, with its epsilon.
    """

    Config: ClassVar[type[PartConfig]] = PsnrConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts = Facts(
        name="psnr",
        version="2",
        direction="higher",
        range=(0.0, 80.0),
        range_is_approximate=True,
        needs=frozenset({"candidate", "origin"}),
        source="10 log10(1 / (mse + 1e-8)), as pyiqa's psnr",
        size_scored="the reference's",
    )

    def __init__(self, config: PsnrConfig) -> None:
        self.config = config
        self.facts = replace(type(self).facts, needs=frozenset({"candidate", config.against}))

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        """Score each candidate against its own reference."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: Sample) -> Result:
        reference = sample.origin if self.config.against == "origin" else sample.previous
        if reference is None:
            return Unscored("no_reference", f"psnr needs the {self.config.against}")
        pair = register(sample.candidate, reference, self.config.align)
        mse = float(np.square((pair.candidate - pair.reference) / np.float32(255)).mean(dtype=np.float64))
        return Score(float(10 * np.log10(1 / (mse + _EPSILON))), flags=pair.flags)
