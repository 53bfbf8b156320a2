"""How much of the frame has moved: crop, shift, stretch, mirroring, rotation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from turngate.component import ComponentConfig
from turngate.evaluators.evaluator import EvalInput, Facts
from turngate.evaluators.full_reference.base import reference_of
from turngate.evaluators.registration import Geometry, locate, same_pixels
from turngate.evaluators.result import IDENTICAL, Result, Score, Unscored, UnscoredWhy

__all__ = ["FrameGeometry", "GeometryConfig"]

_SAME = 0.05
"""Per cent of the diagonal below which the frame is called the same."""
_DETAILS: Mapping[str, tuple[UnscoredWhy, str]] = {
    "flat": ("flat", "an image has one level only"),
    "too_small": ("too_small", "an image has a side below 16 pixels"),
    "no_match": ("undefined", "the candidate cannot be laid on the reference"),
}


class GeometryConfig(ComponentConfig):
    """What to compare with, and what to look for."""

    against: Literal["origin", "previous"] = "origin"
    """The reference: the origin, or the image that was edited."""
    align: Literal["crop", "full"] = "full"
    """`crop`: shifts and scales along each axis; `full`: mirroring and quarter turns too."""


class FrameGeometry:
    """How far the frame has moved: mean displacement of its four corners, in % of the diagonal; 0 when it has not.

    The reference's corners are looked up in the candidate, which is drawn centred on the reference at the reference's
    area, as it came: a crop of 2 % of each side that was enlarged back moves every corner by about 1 %, mirroring moves
    each across the picture. The components say what happened. `Unscored` when the two cannot be registered.
    """

    Config: ClassVar[type[ComponentConfig]] = GeometryConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: GeometryConfig) -> None:
        self.config = config
        self.facts = Facts(
            name="geometry",
            version="2",
            direction="lower",
            range=(0.0, float("inf")),
            inputs=frozenset({"candidate", config.against}),
            min_size=16,
            source="turngate, docs/evaluators.md",
            size_scored="at most 512 pixels a side, refined at up to 1024",
        )

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Locate each candidate on its own reference."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: EvalInput) -> Result:
        reference = reference_of(sample, self.config.against)
        if reference is None:
            return Unscored("no_reference", f"geometry needs the {self.config.against}")
        geometry = locate(sample.candidate, reference, self.config.align)
        if geometry.refused:
            why, detail = _DETAILS[geometry.refused]
            return Unscored(why, f"{detail} (confidence {geometry.confidence:.2f})", geometry.flags())
        numbers, flags = geometry.components(), geometry.flags()
        if same_pixels(sample.candidate, reference):
            flags = (*flags, IDENTICAL)
        return Score(geometry.displacement, _label(geometry), components=numbers, flags=flags).rounded()


def _label(geometry: Geometry) -> str:
    turned = geometry.orientation
    if turned.mirrored or turned.quarters:
        words = ["mirrored"] * turned.mirrored + [f"rotated {90 * turned.quarters}"] * bool(turned.quarters)
        return ", ".join(words)
    return "same" if geometry.displacement < _SAME else "moved"
