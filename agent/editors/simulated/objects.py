"""The objects that a simulated editor has put into an image: where they are, and how adding one fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

__all__ = ["FAILURES", "RADIUS", "Addition", "Failure", "Placed", "add", "as_json", "cropped", "from_json", "mirrored",
           "repeated", "rotated"]  # fmt: skip

Failure = Literal["nothing_added", "replaced", "row_too_many"]
"""Nothing new appears; the new object takes the place of an old one; a row of the same object comes along with it."""

FAILURES: Mapping[Failure, float] = {"nothing_added": 0.06, "replaced": 0.1, "row_too_many": 0.06}
"""Probability of each when an object is asked for. Ours: the paper reports that they happen, not how often."""

RADIUS = 0.032
"""Of an object, as a share of the image's shorter side."""

_MARGIN = 0.06
"""Share of the shorter side that stays free at the borders, so that later crops do not cut an object off."""

_JITTER = 0.004
"""How far an object may be off its place in the grid, as a share of the shorter side."""

_ROW = 4
"""Objects in a row too many, beside the one that was asked for."""


@dataclass(frozen=True)
class Placed:
    """One object in an image."""

    name: str
    x: float
    """Centre, as a share of the width."""
    y: float
    """Centre, as a share of the height."""


@dataclass(frozen=True)
class Addition:
    """What came of a request to add an object."""

    failure: Failure | None
    drawn: tuple[Placed, ...]
    """New in the image; they are painted over what was there."""
    objects: tuple[Placed, ...]
    """All that are then in the image, oldest first."""


def add(
    name: str, objects: tuple[Placed, ...], width: int, height: int, rng: np.random.Generator, failures: float
) -> Addition:
    """Place one more object where there is room, or fail; `failures` multiplies the probabilities.

    A first object cannot replace one. In a full image the new object always replaces one; in a full row nothing comes
    along.
    """
    failure = _failure(rng, failures)
    if failure == "nothing_added":
        return Addition(failure, (), objects)
    free = _free(objects, width, height)
    if objects and (failure == "replaced" or not free):
        index = int(rng.integers(len(objects)))
        new = Placed(name, objects[index].x, objects[index].y)
        return Addition("replaced", (new,), (*objects[:index], *objects[index + 1 :], new))
    x, y = free[int(rng.integers(len(free)))]
    row = []
    if failure == "row_too_many":
        row = sorted((cell for cell in free if cell[1] == y and cell[0] != x), key=lambda cell: abs(cell[0] - x))[:_ROW]
    off = rng.uniform(-_JITTER, _JITTER, (1 + len(row), 2)) * min(width, height) / (width, height)
    cells = zip(((x, y), *row), off, strict=True)
    drawn = tuple(_placed(name, x + float(right), y + float(down)) for (x, y), (right, down) in cells)
    return Addition("row_too_many" if row else None, drawn, (*objects, *drawn))


def mirrored(objects: Iterable[Placed]) -> tuple[Placed, ...]:
    """Where they are after left and right were swapped."""
    return tuple(_placed(one.name, 1 - one.x, one.y) for one in objects)


def rotated(objects: Iterable[Placed]) -> tuple[Placed, ...]:
    """Where they are after a quarter turn clockwise."""
    return tuple(_placed(one.name, 1 - one.y, one.x) for one in objects)


def cropped(objects: Iterable[Placed], crop: tuple[float, float]) -> tuple[Placed, ...]:
    """Where they are after borders were cut off; those whose centre was cut off are gone."""
    moved = (
        _placed(one.name, *(0.5 + (at - 0.5) / (1 - cut) for at, cut in zip((one.x, one.y), crop, strict=True)))
        for one in objects
    )
    return tuple(one for one in moved if 0 <= one.x <= 1 and 0 <= one.y <= 1)


def repeated(objects: Iterable[Placed], piece: tuple[float, float, float, float]) -> tuple[Placed, ...]:
    """Which there are after a piece (left, top, right, bottom) was repeated at the left edge, over what was there."""
    left, top, _, bottom = piece
    inside = [one for one in objects if top <= one.y <= bottom]
    covered = {one for one in inside if one.x < 1 - left}
    copies = [_placed(one.name, one.x - left, one.y) for one in inside if one.x >= left]
    return (*(one for one in objects if one not in covered), *copies)


def as_json(objects: Iterable[Placed]) -> list[dict[str, Any]]:
    """For the record."""
    return [asdict(one) for one in objects]


def from_json(told: Iterable[Mapping[str, Any]]) -> tuple[Placed, ...]:
    """Back from the record."""
    return tuple(Placed(one["name"], one["x"], one["y"]) for one in told)


def _failure(rng: np.random.Generator, failures: float) -> Failure | None:
    drawn = float(rng.random())
    for failure, probability in FAILURES.items():
        drawn -= failures * probability
        if drawn < 0:
            return failure
    return None


def _free(objects: tuple[Placed, ...], width: int, height: int) -> list[tuple[float, float]]:
    """Centres of a grid, as shares, that are far enough from every object."""
    short = min(width, height)
    spacing = 2.4 * RADIUS * short
    axes = []
    for side in (width, height):
        room = side - 2 * (_MARGIN * short)
        number = max(1, int(room / spacing))
        axes.append([float(at / side) for at in side / 2 + (np.arange(number) - (number - 1) / 2) * spacing])
    taken = np.array([(one.x * width, one.y * height) for one in objects]).reshape(-1, 2)
    return [
        (x, y)
        for y in axes[1]
        for x in axes[0]
        if not len(taken) or np.hypot(*(taken - (x * width, y * height)).T).min() > 0.85 * spacing
    ]


def _placed(name: str, x: float, y: float) -> Placed:
    return Placed(name, round(x, 4), round(y, 4))
