"""Metrics that look at one image alone."""

from turngate.evaluators.no_reference.brisque import Brisque
from turngate.evaluators.no_reference.niqe import Niqe
from turngate.evaluators.no_reference.piqe import Piqe, blocks_of

__all__ = [
    "Brisque",
    "Niqe",
    "Piqe",
    "blocks_of",
]
