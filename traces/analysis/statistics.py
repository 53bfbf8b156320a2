"""Intervals and tests that respect what is independent: the origins, not the runs or the turns. Counts in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from turngate.frozen import FrozenModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "FEW_ORIGINS",
    "Estimate",
    "adjusted",
    "bootstrap",
    "bootstrap_ratio",
    "counted",
    "how_simulated",
    "sign_flip_p",
]


T = TypeVar("T")

FEW_ORIGINS = 5
"""With fewer origins than these an interval by bootstrap is too narrow, and is called rough."""


class Estimate(FrozenModel):
    """A number with its interval."""

    value: float | None
    """None where there is nothing to divide by."""
    low: float | None = None
    """Lower end of the 95 % interval; None with a single origin."""
    high: float | None = None
    """Upper end."""
    clusters: int = 0
    """Origins that it rests on."""


def bootstrap(
    groups: Mapping[str, Sequence[T]], statistic: Callable[[Sequence[T]], float | None], draws: int = 500
) -> Estimate:
    """`statistic` over all items, with the percentile interval of a bootstrap that draws whole groups.

    Cluster bootstrap, Field and Welsh, J. R. Statist. Soc. B 69 (2007). `groups` maps an origin to its items; drawing
    origins keeps what belongs together together. Draws in which the statistic does not exist are left out.
    """
    names = sorted(name for name, items in groups.items() if items)
    value = statistic([item for name in names for item in groups[name]])
    picked = _draws(len(names), draws)
    found = [statistic([item for pick in picks for item in groups[names[pick]]]) for picks in picked]
    return _estimate(value, np.array([one for one in found if one is not None]), len(names))


def bootstrap_ratio(
    groups: Mapping[str, Sequence[T]],
    numerator: Callable[[T], float],
    denominator: Callable[[T], float] = lambda item: 1.0,
    draws: int = 2000,
) -> Estimate:
    """The same for sum over sum (without a denominator: the mean); None when the lower sum is 0."""
    names = sorted(name for name, items in groups.items() if items)
    above = np.array([sum(numerator(item) for item in groups[name]) for name in names], dtype=np.float64)
    below = np.array([sum(denominator(item) for item in groups[name]) for name in names], dtype=np.float64)
    value = float(above.sum() / below.sum()) if below.sum() else None
    picks = _draws(len(names), draws)
    sums = below[picks].sum(axis=1)
    return _estimate(value, above[picks].sum(axis=1)[sums > 0] / sums[sums > 0], len(names))


def _draws(clusters: int, draws: int) -> NDArray[np.int64]:
    """Which clusters each draw takes, draws x clusters; the same in every call, so arms are drawn alike."""
    if clusters < 2:
        return np.empty((0, clusters), dtype=np.int64)
    picks: NDArray[np.int64] = np.random.default_rng(0).integers(0, clusters, (draws, clusters))
    return picks


def _estimate(value: float | None, found: NDArray[np.float64], clusters: int) -> Estimate:
    if value is None or not len(found):
        return Estimate(value=value, clusters=clusters)
    low, high = np.percentile(found, [2.5, 97.5])
    return Estimate(value=value, low=float(low), high=float(high), clusters=clusters)


def sign_flip_p(differences: Sequence[float]) -> float | None:
    """Two-sided p of paired differences, one per origin, by flipping signs (exact up to 13 origins).

    None with fewer than two. The smallest p possible is 2 / 2**n: with 5 origins nothing is below 0.0625.
    """
    from scipy.stats import permutation_test

    values: NDArray[np.float64] = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return None
    found = permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(0)
    )
    return float(min(1.0, found.pvalue))


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """The same p values corrected for their number (Benjamini and Hochberg 1995); None stays None."""
    from scipy.stats import false_discovery_control

    known = [index for index, p in enumerate(p_values) if p is not None]
    result: list[float | None] = [None] * len(p_values)
    if known:
        for index, p in zip(known, false_discovery_control([p_values[i] for i in known]), strict=True):
            result[index] = float(p)
    return result


# Numbers in sentences.


def counted(number: int, noun: str) -> str:
    """`1 turn`, `2 turns`; for nouns whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def how_simulated(simulated: int, runs: int) -> Literal["", "partly simulated", "simulated"]:
    """In words: `simulated` of `runs` runs are of a simulator."""
    if not simulated:
        return ""
    return "simulated" if simulated == runs else "partly simulated"
