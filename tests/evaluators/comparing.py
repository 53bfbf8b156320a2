"""Builds an evaluator and compares two images with it."""

from __future__ import annotations

from typing import Any

from turngate.evaluators import EVALUATORS, EvalInput, Evaluator, Result, Score
from turngate.evaluators.scoring import score
from turngate.picture import Picture

from .warps import Rgb

__all__ = ["build", "result_of", "scored"]


def build(raw: Any) -> Evaluator:
    """By name or settings."""
    return EVALUATORS.build(EVALUATORS.configure(raw, "x"))


def result_of(raw: Any, candidate: Rgb, origin: Rgb) -> Result:
    """Of a candidate that is its own previous image."""
    sample = EvalInput(
        Picture.from_rgb(candidate), origin=Picture.from_rgb(origin), previous=Picture.from_rgb(candidate)
    )
    return score(build(raw), [sample])[0]


def scored(raw: Any, candidate: Rgb, origin: Rgb) -> Score:
    """The result, which must be a score."""
    result = result_of(raw, candidate, origin)
    assert isinstance(result, Score), result
    return result
