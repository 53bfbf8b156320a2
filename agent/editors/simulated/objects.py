"""What a simulated editor puts into an image or does to it on request, and how often that fails."""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from turngate.agent.scenario import grayscale, mirror, rotate
from turngate.component import ObjectFailure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from turngate.picture import Picture

__all__ = [
    "FAILS",
    "FAILURES",
    "RADIUS",
    "Placed",
    "add",
    "as_json",
    "cropped",
    "from_json",
    "mirrored",
    "operate",
    "painted",
    "repeated",
    "rotated",
]


FAILURES: Mapping[ObjectFailure, float] = {"nothing_added": 0.06, "replaced": 0.1, "row_too_many": 0.06}
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

    failure: ObjectFailure
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
    return Addition("row_too_many" if row else "none", drawn, (*objects, *drawn))


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


def from_json(raw: Iterable[Mapping[str, Any]]) -> tuple[Placed, ...]:
    """Back from the record."""
    return tuple(Placed(one["name"], one["x"], one["y"]) for one in raw)


def _failure(rng: np.random.Generator, failures: float) -> ObjectFailure:
    drawn = float(rng.random())
    for failure, probability in FAILURES.items():
        drawn -= failures * probability
        if drawn < 0:
            return failure
    return "none"


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


# Paints a simple fruit: a shaded ball with a stem, in a colour that its name gives.

_KNOWN = {
    "apple": (200, 30, 35), "banana": (240, 215, 60), "orange": (245, 140, 25), "lemon": (250, 235, 70),
    "lime": (120, 190, 40), "pear": (190, 205, 80), "plum": (100, 40, 110), "cherry": (160, 10, 40),
    "blueberry": (70, 85, 160), "strawberry": (225, 40, 50), "kiwi": (130, 110, 60), "grape": (110, 50, 130),
}  # fmt: skip
"""Colours of the commonest fruits; all others get one from the hash of their name."""


def painted(rgb: NDArray[np.uint8], objects: Iterable[Placed]) -> NDArray[np.uint8]:
    """A copy of the image with clean objects painted over it, one after the other."""
    result = np.array(rgb)
    for one in objects:
        _paint(result, one)
    return result


def _paint(rgb: NDArray[np.uint8], one: Placed) -> None:
    height, width = rgb.shape[:2]
    radius = max(1.5, RADIUS * min(height, width))
    wide, tall = _shape(one.name)
    column, row = one.x * width, one.y * height
    reach = 1.6 * radius
    top, bottom = max(0, int(row - reach)), min(height, int(row + reach) + 1)
    left, right = max(0, int(column - reach)), min(width, int(column + reach) + 1)
    x = (np.arange(left, right) + 0.5 - column)[None, :] / radius
    y = (np.arange(top, bottom) + 0.5 - row)[:, None] / radius
    area = rgb[top:bottom, left:right].astype(np.float64)
    shadow = _cover(np.hypot(x / 1.15, (y - tall * 0.8) / 0.35), radius / 3) * 0.45
    area *= (1 - shadow)[:, :, None]
    inside = np.hypot(x / wide, y / tall)
    light = np.clip(1.15 - 0.75 * np.hypot(x / wide + 0.35, y / tall + 0.4), 0.25, 1.1)
    gloss = np.exp(-((x / wide + 0.35) ** 2 + (y / tall + 0.4) ** 2) / 0.04)
    body = light[:, :, None] * np.array(_colour(one.name)) + 150 * gloss[:, :, None]
    area += _cover(inside, radius)[:, :, None] * (body - area)
    stem = _cover(np.hypot((x - 0.12 * (y + tall)) / 0.1, (y + tall * 1.05) / 0.3), radius / 5)
    area += stem[:, :, None] * (np.array((90, 60, 30)) - area)
    rgb[top:bottom, left:right] = np.clip(np.rint(area), 0, 255)


def _cover(distance: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """1 inside, 0 outside, with a border about one pixel wide; `scale` is the pixels in one unit of distance."""
    covered: NDArray[np.float64] = np.clip((1 - distance) * scale + 0.5, 0, 1)
    return covered


def _colour(name: str) -> tuple[float, float, float]:
    known = _KNOWN.get(name.lower().split()[-1]) if name.split() else None
    if known is not None:
        return known
    digest = hashlib.sha256(name.encode()).digest()
    hue = -0.25 + 0.55 * digest[0] / 255  # purple to green, by way of red and yellow
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, 0.6 + digest[1] / 730, 0.65 + digest[2] / 850)
    return 255 * red, 255 * green, 255 * blue


def _shape(name: str) -> tuple[float, float]:
    """Half width and half height in radii: round, flat or long, by the name."""
    lean = hashlib.sha256(name.encode()).digest()[3] / 255 - 0.5
    return 1 - 0.3 * max(lean, 0), 1 + 0.3 * min(lean, 0)


# The requests other than an exact copy that a simulated editor carries out, and how often it fails to.

FAILS = {"mirror": 0.15, "rotate": 0.5}
"""Probability that an operation is not carried out: the image comes back as it was. Ours; the paper reports that
mirroring fails on some images and that rotation mostly does."""


@dataclass(frozen=True)
class Operated:
    """The input after the operation, before any decay."""

    rgb: NDArray[np.uint8]
    """H x W x 3; W x H x 3 after a rotation."""
    failed: bool
    """The operation was asked for and not carried out."""


def operate(picture: Picture, kind: str, rng: np.random.Generator, failures: float) -> Operated:
    """Carry out the operation `kind`; `failures` multiplies the probabilities. What is no such operation changes
    nothing; a request to remove noise is one of those.
    """
    rgb = picture.rgb
    if rng.random() < failures * FAILS.get(kind, 0.0):
        return Operated(rgb, True)
    match kind:
        case "mirror":
            rgb = mirror(rgb)
        case "rotate":
            rgb = rotate(rgb)
        case "grayscale":
            rgb = grayscale(picture)
        case "recolorise" if _is_gray(rgb):
            rgb = _coloured(grayscale(picture))
    return Operated(rgb, False)


def _is_gray(rgb: NDArray[np.uint8]) -> bool:
    """No more colour than a tint and noise: differences of the channels hardly vary between blocks of 8 x 8 pixels."""
    height, width = (side // 8 for side in rgb.shape[:2])
    if not height or not width:  # smaller than a block
        return bool((rgb.max(axis=2) - rgb.min(axis=2)).max() <= 8)
    blocks = rgb[: 8 * height, : 8 * width].reshape(height, 8, width, 8, 3).mean(axis=(1, 3))
    return float(np.std(blocks[..., :2] - blocks[..., 1:], axis=(0, 1)).max()) < 3.0


def _coloured(gray: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Invented colours, from the luma alone: the original ones are not in a grayscale image."""
    levels = np.array([0, 60, 130, 200, 255])
    palette = np.array([[8, 10, 22], [66, 54, 58], [158, 122, 98], [208, 200, 188], [250, 253, 255]])
    table = np.stack([np.interp(np.arange(256), levels, palette[:, channel]) for channel in range(3)], axis=1)
    coloured: NDArray[np.uint8] = np.rint(table).astype(np.uint8)[gray[:, :, 0]]
    return coloured
