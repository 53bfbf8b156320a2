"""A small photograph, and pixels of whatever comes back."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from turngate.graphs.config import OriginConfig
from turngate.graphs.origin import load_origin
from turngate.picture import Picture

__all__ = ["photo", "pixels"]


@cache
def photo(side: int = 64) -> bytes:
    """The astronaut, `side` pixels wide and high, as PNG."""
    return load_origin(OriginConfig(image="skimage:astronaut", size=side)).data


def pixels(data: bytes) -> NDArray[np.float64]:
    """Height x width x 3 pixels, 0..255."""
    return Picture.from_bytes(data).rgb.astype(np.float64)
