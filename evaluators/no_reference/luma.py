"""Luma of a picture, computed once and shared by all metrics that look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.picture import Picture

__all__ = ["is_flat", "luma", "luma_of", "rounded_luma"]

_KNOWN: WeakKeyDictionary[Picture, NDArray[np.float32]] = WeakKeyDictionary()


def luma(picture: Picture) -> NDArray[np.float32]:
    """H x W BT.601 luma, 0..1, in single precision.

    One pixel in a thousand lies exactly between two 8-bit levels, and how it is rounded moves NIQE by up to 0.005.
    Single precision rounds it as pyiqa does; `Picture.gray` (double precision) does not.
    """
    known = _KNOWN.get(picture)
    if known is None:
        known = luma_of(picture.rgb)
        known.setflags(write=False)
        _KNOWN[picture] = known
    return known


def luma_of(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The same for H x W x 3 8-bit pixels that are not a `Picture`."""
    weighted: NDArray[np.float32] = (rgb.astype(np.float32) / np.float32(255)) @ np.array(
        [0.299, 0.587, 0.114], np.float32
    )
    return weighted


def rounded_luma(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Luma 0..1 as whole 8-bit levels, 0..255."""
    levels: NDArray[np.float64] = np.rint(values * np.float32(255)).astype(np.float64)
    return levels


def is_flat(levels: NDArray[np.float64]) -> bool:
    """True when all pixels have one level: there is no structure to judge."""
    return bool(levels.min() == levels.max())
