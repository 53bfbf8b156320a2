"""What a perfect editor would have made: the origin after operations that can be computed exactly."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from turngate.picture import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXACT", "Exact", "grayscale", "ideal_picture", "mirror", "rotate"]

Exact = Literal["mirror", "rotate", "grayscale", "recolorise"]
"""`mirror` swaps left and right, `rotate` turns by 90 degrees clockwise, `grayscale` keeps the luma alone, `recolorise`
gives the origin's colours back."""

EXACT: tuple[Exact, ...] = get_args(Exact)
"""All of them."""


def ideal_picture(origin: Picture, operations: Iterable[Exact]) -> Picture:
    """The origin after `operations`, in order; the origin itself, bytes and all, where they cancel out.

    Nothing is resampled, so mirrors and rotations are exact. Another editor may weigh the channels of a grayscale image
    otherwise and still be right: this one is BT.601 luma.
    """
    quarters, mirrored, gray = 0, False, False  # rotated after it was mirrored
    for operation in operations:
        match operation:
            case "mirror":  # mirror after q quarters is q quarters the other way after mirror
                quarters, mirrored = -quarters % 4, not mirrored
            case "rotate":
                quarters = (quarters + 1) % 4
            case "grayscale":
                gray = True
            case "recolorise":
                gray = False
    return _made(origin, quarters, mirrored, gray) if quarters or mirrored or gray else origin


def mirror(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Left and right swapped; H x W x 3."""
    return rgb[:, ::-1]


def rotate(rgb: NDArray[np.uint8], quarters: int = 1) -> NDArray[np.uint8]:
    """Turned clockwise by `quarters` times 90 degrees; W x H x 3 for an odd number."""
    return np.rot90(rgb, -quarters)


def grayscale(picture: Picture) -> NDArray[np.uint8]:
    """BT.601 luma in all three channels; H x W x 3."""
    return np.repeat(np.rint(picture.gray).astype(np.uint8)[:, :, None], 3, axis=2)


@lru_cache(maxsize=4)  # the ideals of a chain repeat with its operations: at most four of one scenario differ
def _made(origin: Picture, quarters: int, mirrored: bool, gray: bool) -> Picture:
    rgb = grayscale(origin) if gray else origin.rgb
    return Picture.from_rgb(rotate(mirror(rgb) if mirrored else rgb, quarters))
