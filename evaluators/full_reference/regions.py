"""Differences where no instruction means to change anything: in control regions, and outside the edits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from turngate.component import Box, ComponentConfig
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.full_reference.base import FullReferenceConfig, described, reference_of, size_scored
from turngate.evaluators.registration import AlignedImages, register
from turngate.evaluators.result import Result, Score, Unscored

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ControlRegions", "ControlRegionsConfig", "OutsideEdit", "OutsideEditConfig"]

_ROUNDING = 1e-6
"""Pixels: an edge nearer than this to a pixel's border lies on it."""


class ControlRegionsConfig(FullReferenceConfig):
    """Where to look, what to compare with, and how."""

    regions: list[Box] = Field(min_length=1)
    """Rectangles that no instruction touches, each [left, top, right, bottom] in shares 0..1 of the reference's width
    and height."""


class _OfTheRest(ABC):
    """Base of measures that look at what no instruction means to change."""

    Config: ClassVar[type[ComponentConfig]] = FullReferenceConfig
    requires: ClassVar[Mapping[str, str]] = {}
    facts: Facts

    def __init__(self, config: FullReferenceConfig) -> None:
        self._against, self._align = config.against, config.align
        inputs = type(self).facts.inputs - {"origin"} | {config.against}
        self.facts = replace(type(self).facts, inputs=inputs, size_scored=size_scored(config.align))

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Compare each candidate with its own reference."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: EvalInput) -> Result:
        reference = reference_of(sample, self._against)
        if reference is None:
            return Unscored("no_reference", f"{self.facts.name} needs the {self._against}")
        pair = register(sample.candidate, reference, self._align)
        result = described(self._difference(pair, sample), pair)
        if not isinstance(result, Score):
            return result
        plain = self._difference(register(sample.candidate, reference, "none"), sample)
        if self._align != "none" and isinstance(plain, Score):
            result = replace(result, components={**result.components, "unaligned": plain.value})
        return result.rounded()

    @abstractmethod
    def _difference(self, pair: AlignedImages, sample: EvalInput) -> Score | Unscored:
        """Mean absolute difference of two images on one pixel grid, where nothing was to change."""


class ControlRegions(_OfTheRest):
    """How much has changed where nothing should: mean absolute difference in 8-bit levels inside fixed rectangles.

    |candidate - reference| over all pixels and channels of a rectangle after registration, and the mean of that over
    the rectangles; a pixel belongs to a rectangle when its centre does. The measure of Edit Drift by MightyKing
    (github.com/MegaTroll222/edit-drift), whose published drift is the plain mean of its three rectangles; its
    registration is affine (ECC, ORB), ours is `align`. The component `region_N` is the Nth rectangle's own value,
    `unaligned` the value without registration: where that is lower, registration added more than there was.
    `Unscored` when registration leaves nothing of any rectangle in sight; one that is out of sight counts in no mean.
    """

    Config = ControlRegionsConfig
    facts = Facts(
        name="control_regions",
        version="1",
        direction="lower",
        range=(0.0, 255.0),
        inputs=frozenset({"candidate", "origin"}),
        source="mean absolute difference in control rectangles, as Edit Drift by MightyKing (MegaTroll222/edit-drift)",
        looks_at_the_rest=True,
    )

    def __init__(self, config: ControlRegionsConfig) -> None:
        super().__init__(config)
        self._regions = config.regions

    def _difference(self, pair: AlignedImages, sample: EvalInput) -> Score | Unscored:
        apart = np.abs(pair.candidate - pair.reference)
        masks = (_mask(region, pair, whole_pixels=False) for region in self._regions)
        found = {f"region_{number}": _mean(apart, mask) for number, mask in enumerate(masks, 1) if mask.any()}
        if not found:
            return Unscored("undefined", "after registration no control region is in sight")
        return Score(float(np.mean(list(found.values()))), components=found)


class OutsideEditConfig(FullReferenceConfig):
    """How to compare. The reference is the origin: what no turn was to touch must still be the origin's."""

    against: Literal["origin"] = "origin"
    margin: float = Field(default=0.0, ge=0, le=0.5)
    """Leave out that much more on each side of every box, as a share of the picture's width and height: an edit may
    blend into its surroundings."""


class OutsideEdit(_OfTheRest):
    """How much has changed outside of where the instructions so far meant to: mean absolute difference in 8-bit levels.

    |candidate - origin| over all channels of the pixels that lie in no edit box of the accepted turns or of this one,
    after registration; a pixel that a box touches is left out. The scenario says where its edits are. The component
    `looked_at` is the share of the pixels that is left, `unaligned` the value without registration. `Unscored` when
    the boxes leave nothing. After Edit Drift by MightyKing (github.com/MegaTroll222/edit-drift), see `control_regions`.
    """

    Config = OutsideEditConfig
    facts = Facts(
        name="outside_edit",
        version="1",
        direction="lower",
        range=(0.0, 255.0),
        inputs=frozenset({"candidate", "origin", "edit_boxes"}),
        source="mean absolute difference outside the edit boxes, after Edit Drift by MightyKing",
        looks_at_the_rest=True,
    )

    def __init__(self, config: OutsideEditConfig) -> None:
        super().__init__(config)
        self._margin = config.margin

    def _difference(self, pair: AlignedImages, sample: EvalInput) -> Score | Unscored:
        if sample.edit_boxes is None:
            return Unscored("no_reference", "outside_edit needs the edit boxes, which the scenario does not say")
        left = np.ones(pair.reference.shape[:2], dtype=bool)
        for box in set(sample.edit_boxes):  # a scenario that edits one place again and again has one box
            left &= ~_mask(_widened(box, self._margin), pair, whole_pixels=True)
        if not left.any():
            return Unscored("undefined", "the edit boxes leave nothing of the picture to look at")
        apart = np.abs(pair.candidate - pair.reference)
        return Score(_mean(apart, left), components={"looked_at": float(left.mean())})


def _widened(box: Box, margin: float) -> Box:
    left, top, right, bottom = box
    return max(0.0, left - margin), max(0.0, top - margin), min(1.0, right + margin), min(1.0, bottom + margin)


def _mask(box: Box, pair: AlignedImages, whole_pixels: bool) -> NDArray[np.bool_]:
    """H x W: the pixels of `pair` whose centre is in `box`, or with `whole_pixels` all that it touches."""
    height, width = pair.reference.shape[:2]
    left, top, right, bottom = pair.window
    columns = _span(box[0], box[2], left, right, width, whole_pixels)
    rows = _span(box[1], box[3], top, bottom, height, whole_pixels)
    mask = np.zeros((height, width), dtype=bool)
    mask[rows, columns] = True
    return mask


def _span(first: float, last: float, start: float, end: float, pixels: int, whole_pixels: bool) -> slice:
    """Pixels between two shares of the reference along a side of which `start` to `end` is in sight."""
    begin, stop = ((share - start) / (end - start) * pixels for share in (first, last))
    if whole_pixels:
        begin, stop = np.floor(begin + _ROUNDING), np.ceil(stop - _ROUNDING)
    else:
        begin, stop = np.ceil(begin - 0.5 - _ROUNDING), np.ceil(stop - 0.5 - _ROUNDING)
    return slice(min(max(int(begin), 0), pixels), min(max(int(stop), 0), pixels))


def _mean(apart: NDArray[np.float32], mask: NDArray[np.bool_]) -> float:
    return float(apart[mask].mean(dtype=np.float64))
