"""The scores that a gate with a memory folds over, in better units: origin and present lineage."""

from __future__ import annotations

from turngate.agent.gate import Past, Reading

__all__ = ["goodness", "lineage", "origin"]

_LARGEST = 1e100
"""A finite score may be huge; within this bound no sum, square or quotient of scores overflows."""


def goodness(reading: Reading) -> float:
    """The score in better units: larger is better, in the evaluator's unit, clipped to +-1e100."""
    return min(max(reading.goodness, -_LARGEST), _LARGEST)


def lineage(past: Past, evaluator: str) -> list[float]:
    """Goodness of the accepted images that led to the current one, oldest first.

    Rejected candidates are not among them, a rollback takes out what it undid, and an image that the evaluator gave
    no score (taken by `on_unscored: accept`) is passed over.
    """
    return [goodness(image.readings[evaluator]) for image in past.accepted if evaluator in image.readings]


def origin(past: Past, evaluator: str) -> list[float]:
    """Goodness of the origin, or nothing when it has no score."""
    return [goodness(past.origin[evaluator])] if evaluator in past.origin else []
