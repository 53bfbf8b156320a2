"""Worlds whose true mean is known: origins are drawn, then their runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Runs = NDArray[np.float64]

TURNS = 100
RATE = (0.0, 1.0)
DIFFERENCE = (-1.0, 1.0)
LATE = (TURNS - 1) / (2 * TURNS)
"""Mean share of damaged turns in a run whose first damaged image stands after a turn from 1 to 100, all alike."""


@dataclass(frozen=True)
class World:
    """A kind of study."""

    name: str
    bounds: tuple[float, float]
    mean: float
    """What the interval should contain: the mean over all origins that could have been drawn."""
    draw: Callable[[Generator, int, int], Runs]
    """Generator, studies and origins, to studies x origins x runs."""


def exposure(rng: Generator, chance: Runs) -> Runs:
    """A run's damage exposure: 0, or with `chance` the share of turns from its first damaged one on.

    One turn decides over all later ones, so turns within a run are as dependent as they can be.
    """
    first = rng.integers(1, TURNS + 1, chance.shape)
    return np.where(rng.random(chance.shape) < chance, (TURNS - first) / TURNS, 0.0)


def _of_runs(a: float, b: float, runs: int) -> Callable[[Generator, int, int], Runs]:
    """Exposures of `runs` runs; origins differ in how likely they are to break: beta(a, b)."""

    def draw(rng: Generator, studies: int, origins: int) -> Runs:
        return exposure(rng, np.repeat(rng.beta(a, b, (studies, origins, 1)), runs, axis=2))

    return draw


def _some(share: float, sign: float = 1.0, start: float = 0.0) -> Callable[[Generator, int, int], Runs]:
    """`start` for most origins, and for a `share` of them anything between 0 and `sign` away from it."""

    def draw(rng: Generator, studies: int, origins: int) -> Runs:
        shape = (studies, origins, 1)
        return start + sign * np.where(rng.random(shape) < share, rng.random(shape), 0.0)

    return draw


def _beta(a: float, b: float, start: float = 0.0, scale: float = 1.0) -> Callable[[Generator, int, int], Runs]:
    def draw(rng: Generator, studies: int, origins: int) -> Runs:
        return start + scale * rng.beta(a, b, (studies, origins, 1))

    return draw


def _no_effect(rng: Generator, studies: int, origins: int) -> Runs:
    """Exposure of an arm minus that of another which does the same, on the same origins."""
    chance = rng.beta(1, 1, (studies, origins, 1))
    return exposure(rng, chance) - exposure(rng, chance)


WORLDS = [
    World("near 0: 6 % of origins high", RATE, 0.03, _some(0.06)),
    World("near 0: beta(0.3, 9.7)", RATE, 0.03, _beta(0.3, 9.7)),
    World("middle: two humps, beta(0.3, 0.3)", RATE, 0.5, _beta(0.3, 0.3)),
    World("middle: all rates alike likely", RATE, 0.5, _beta(1, 1)),
    World("near 1: 6 % of origins low", RATE, 0.97, _some(0.06, -1.0, 1.0)),
    World("near 1: beta(9.7, 0.3)", RATE, 0.97, _beta(9.7, 0.3)),
    World("exposure, 1 run per origin", RATE, LATE / 2, _of_runs(1, 1, 1)),
    World("exposure, 3 runs per origin", RATE, LATE / 2, _of_runs(1, 1, 3)),
    World("rare exposure, 1 run per origin", RATE, LATE / 10, _of_runs(0.2, 1.8, 1)),
    World("rare exposure, 3 runs per origin", RATE, LATE / 10, _of_runs(0.2, 1.8, 3)),
    World("paired: no effect", DIFFERENCE, 0.0, _no_effect),
    World("paired: 8 % of origins saved", DIFFERENCE, -0.04, _some(0.08, -1.0)),
    World("paired: -0.1 +- 0.1 everywhere", DIFFERENCE, -0.1, _beta(2, 2, -0.3, 0.4)),
    World("paired: most much better, some worse", DIFFERENCE, -0.4, _beta(0.45, 1.05, -1.0, 2.0)),
]
