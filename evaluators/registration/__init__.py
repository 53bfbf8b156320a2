"""Where a candidate lies on its reference."""

from turngate.evaluators.registration.align import (
    VERSION,
    Align,
    AlignedImages,
    Geometry,
    locate,
    register,
    same_pixels,
)
from turngate.evaluators.registration.fit import fit
from turngate.evaluators.registration.geometry import GRID, ORIENTATIONS, SAME, UPRIGHT, Orientation
from turngate.evaluators.registration.search import level

__all__ = [
    "GRID",
    "ORIENTATIONS",
    "SAME",
    "UPRIGHT",
    "VERSION",
    "Align",
    "AlignedImages",
    "Geometry",
    "Orientation",
    "fit",
    "level",
    "locate",
    "register",
    "same_pixels",
]
