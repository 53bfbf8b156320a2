"""Where a candidate lies on its reference."""

from turngate.evaluators.registration.align import Align, AlignedImages, Geometry, locate, register
from turngate.evaluators.registration.fit import fit
from turngate.evaluators.registration.geometry import ORIENTATIONS, SAME, UPRIGHT, Orientation
from turngate.evaluators.registration.search import level

__all__ = [
    "ORIENTATIONS",
    "SAME",
    "UPRIGHT",
    "Align",
    "AlignedImages",
    "Geometry",
    "Orientation",
    "fit",
    "level",
    "locate",
    "register",
]
