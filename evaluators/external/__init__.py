"""A scorer that is a program of its own."""

from turngate.evaluators.external.scorer import ExternalScorer

__all__ = [
    "ExternalScorer",
]
