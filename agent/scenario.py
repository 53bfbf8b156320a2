"""The Scenario contract: the instruction of each turn, and what a perfect editor would make of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np

from turngate.component import Box, checked_box
from turngate.errors import ConfigError
from turngate.picture import Picture
from turngate.registry import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXACT", "Exact", "Ideal", "Scenario", "Step", "grayscale", "ideal_picture", "mirror", "rotate"]


# What a perfect editor would have made: the origin after operations that can be computed exactly.

Exact = Literal["mirror", "rotate", "grayscale", "recolorise", "alter", "restore"]
"""`mirror` swaps left and right, `rotate` turns by 90 degrees clockwise, `grayscale` keeps the luma alone, `recolorise`
gives the origin's colours back. `alter` changes what nobody can compute (an object is added), `restore` takes that
back: in between the ideal is not known."""

EXACT: tuple[Exact, ...] = get_args(Exact)
"""All of them."""


def ideal_picture(origin: Picture, operations: Iterable[Exact]) -> Picture | None:
    """The origin after `operations`, in order; the origin itself, bytes and all, where they cancel out.

    None while something is altered that was not restored yet.

    Nothing is resampled, so mirrors and rotations are exact. Another editor may weigh the channels of a grayscale image
    otherwise and still be right: this one is BT.601 luma.
    """
    quarters, mirrored, gray, altered = 0, False, False, False  # rotated after it was mirrored
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
            case "alter":
                altered = True
            case "restore":
                altered = False
    if altered:
        return None
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


Ideal = Literal["origin", "operations"]
"""What a perfect editor's image equals: the origin after every turn, or the origin after the exact operations of the
accepted turns (`Step.exact`). A skipped turn's are not among them: the next turn starts from the image before."""


@dataclass(frozen=True)
class Step:
    """What one turn asks for."""

    text: str
    """Instruction as the editor gets it."""
    operation: Mapping[str, Any] = field(default_factory=dict)
    """The same in machine terms, for editors that do not read (simulators); plain JSON."""
    exact: tuple[Exact, ...] = ()
    """What a perfect editor does to the image it is given, in operations that can be computed; () leaves it as it is.
    Read only where the scenario's ideal is known. Others than those of `Exact` raise `ConfigError`."""
    edit_boxes: tuple[Box, ...] | None = None
    """Where something is meant to change, all the rest to stay; () where nothing is, None where that is not known. A
    rectangle without an area or beyond the picture raises `ConfigError`."""

    def __post_init__(self) -> None:
        for name in self.exact:
            if name not in EXACT:
                raise ConfigError(f"scenario: no exact operation is called {name!r}{nearest(name, list(EXACT))}")
        for box in self.edit_boxes or ():
            try:
                checked_box(box)
            except ValueError as error:
                raise ConfigError(f"scenario: edit_boxes: {error}, not {box!r}") from None


@runtime_checkable
class Scenario(Protocol):
    """Gives the instruction of each turn.

    It may also have `restore(recorded)`: turn and metadata of the attempts that are recorded, for one that is told its
    instructions while the run goes on.
    """

    ideal: Ideal | None
    """What a perfect editor's image equals; None where that is not known, so that no truth can be measured by it."""
    length: int | None
    """Number of turns it has instructions for; None when it never runs out."""

    def instruction(self, turn: int) -> Step:
        """The step of a 1-based turn; depends on nothing else."""
        ...
