"""Intervals and tests that respect what is independent: the origins, not the runs or the turns. Counts in words.

Measured in docs/statistics.md by benchmarks/intervals.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, isfinite
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from turngate.frozen import FrozenModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "FEW_ORIGINS",
    "Estimate",
    "adjusted",
    "cluster_mean",
    "cluster_share",
    "how_simulated",
    "mean_interval",
    "sign_flip_p",
    "smallest_p",
    "why_simulated",
]


T = TypeVar("T")

FEW_ORIGINS = 5
"""Fewest origins with an interval or a p: with 4, no p is below 0.125, and 0 of 4 leaves 60 % of the range open."""

LEVEL = 0.95
"""How often the interval should contain the mean."""

FLIPS = 9999
"""Random sign patterns where there are more than these; fewer are all counted."""


class Estimate(FrozenModel):
    """A mean over origins with its interval."""

    value: float | None
    """None where there is nothing to average."""
    low: float | None = None
    """Lower end of the 95 % interval; None with fewer than `FEW_ORIGINS` origins."""
    high: float | None = None
    """Upper end."""
    clusters: int = 0
    """Origins that it rests on."""
    by_origin: dict[str, float] = {}
    """Each origin's own mean, by name, in place of an interval: empty from `FEW_ORIGINS` origins on."""


def cluster_mean(groups: Mapping[str, Sequence[float]], bounds: tuple[float, float]) -> Estimate:
    """Mean over origins of the mean over each origin's items, with its 95 % interval (`mean_interval`).

    `groups` maps an origin to its items, for example one number per run; origins without items are left out. Each
    origin weighs the same, whatever the number of its runs. `bounds` are the lowest and highest value that an item
    could have had, in its own unit. ValueError when an item lies outside.
    """
    low, high = _checked(bounds)
    means = {name: _mean(_inside(groups[name], low, high, name)) for name in sorted(groups) if groups[name]}
    if not means:
        return Estimate(value=None)
    values = list(means.values())
    if len(values) < FEW_ORIGINS:
        return Estimate(value=_mean(values), clusters=len(values), by_origin=means)
    lower, upper = mean_interval(values, bounds)
    return Estimate(value=_mean(values), low=lower, high=upper, clusters=len(values))


def cluster_share(groups: Mapping[str, Sequence[tuple[float, float]]]) -> Estimate:
    """Mean over origins of each origin's share: the sum of its first numbers over the sum of its second ones.

    `groups` maps an origin to pairs (part, whole), for example one per run, 0 <= part <= whole. Origins whose wholes
    add up to 0 are left out. The interval is that of `cluster_mean` within 0..1.
    """
    shares = {
        name: [sum(part for part, _ in pairs) / whole]
        for name, pairs in groups.items()
        if (whole := sum(number for _, number in pairs))
    }
    return cluster_mean(shares, (0.0, 1.0))


def mean_interval(values: Sequence[float], bounds: tuple[float, float]) -> tuple[float, float]:
    """95 % interval for the mean of independent values that lie within `bounds`; no other assumption.

    Gaffke's bound on each side, at 2.5 %: Learned-Miller and Thomas, arXiv:1905.06208 (2020), after Gaffke, Three test
    statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable (2005). For values that
    are all `bounds` it is the interval of Clopper and Pearson. It contains the mean of the values, lies within the
    bounds, never has width 0, and grows with every value. ValueError without values, or when one lies outside.
    """
    low, high = _checked(bounds)
    if not values:
        raise ValueError("an interval needs at least one value: got none")
    # As shares of the range, so that the search below has one scale.
    shares = [(value - low) / (high - low) for value in _inside(values, low, high, "the mean")]
    mean = _mean(values)
    lower, upper = 1 - _upper([1 - share for share in shares]), _upper(shares)
    # The outer min and max only undo rounding.
    return max(low, min(mean, low + (high - low) * lower)), min(high, max(mean, low + (high - low) * upper))


def _upper(shares: Sequence[float]) -> float:
    """Upper bound for the mean of values in 0..1: a quantile of their average, with 1 as one more, at random weights.

    The weights are uniform on the simplex (Dirichlet with all parameters 1). The density of such an average is the
    B-spline whose knots are the values (Curry and Schoenberg, J. Analyse Math. 17, 1966): no draws are needed.
    """
    from scipy.interpolate import BSpline
    from scipy.optimize import brentq

    knots = np.sort(np.append(np.asarray(shares, dtype=np.float64), 1.0))
    start = float(knots[0])
    if start == 1.0:
        return 1.0
    area = BSpline.basis_element(knots).antiderivative()
    scale = len(shares) / (1.0 - start)

    def beyond(at: float) -> float:
        below = 0.0 if at <= start else 1.0 if at >= 1.0 else scale * float(area(at))
        return below - (1 + LEVEL) / 2

    return float(brentq(beyond, start, 1.0, xtol=1e-12))


def _checked(bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = float(bounds[0]), float(bounds[1])
    if not (isfinite(low) and isfinite(high) and low < high):
        raise ValueError(f"bounds must be two finite numbers, the lower one first: got {low} and {high}")
    return low, high


def _inside(values: Sequence[float], low: float, high: float, name: str) -> list[float]:
    """The values, with what rounding pushed over a bound put back onto it."""
    slack = 1e-9 * (high - low)
    for value in values:
        if not low - slack <= value <= high + slack:
            raise ValueError(f"{value} of {name} is outside of {low} to {high}: give the bounds of its unit")
    return [min(max(float(value), low), high) for value in values]


def _mean(values: Sequence[float]) -> float:
    """The mean; rounding does not take it out of the range of the values, so equal values have exactly that mean."""
    return min(max(fsum(values) / len(values), min(values)), max(values))


def sign_flip_p(differences: Sequence[float]) -> float | None:
    """Two-sided p of paired differences, one per origin, by flipping signs (exact up to 13 origins).

    The hypothesis is that each difference could as well have had the other sign. None with fewer than `FEW_ORIGINS`.
    """
    from scipy.stats import permutation_test

    values: NDArray[np.float64] = np.asarray(differences, dtype=np.float64)
    if len(values) < FEW_ORIGINS:
        return None
    found = permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=FLIPS, rng=np.random.default_rng(0)
    )
    return float(min(1.0, found.pvalue))


def smallest_p(origins: int) -> float | None:
    """Smallest p that `sign_flip_p` can give: 2 / 2**origins; 0.0002 from 14 on, where it draws. None below 5."""
    if origins < FEW_ORIGINS:
        return None
    return 2 / 2**origins if 2**origins <= FLIPS else 2 / (FLIPS + 1)


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


def how_simulated(simulated: int, runs: int) -> Literal["", "partly simulated", "simulated"]:
    """In words: `simulated` of `runs` runs are of a simulator."""
    if not simulated:
        return ""
    return "simulated" if simulated == runs else "partly simulated"


def why_simulated(simulated: int, fake_server: int) -> str:
    """What is made up in so many simulated runs, of which in so many the shipped fake server answered; one clause."""
    by_hand, fake = "the damage is written by hand", "turngate's fake server answered in place of a model"
    if not fake_server:
        return by_hand
    return fake if fake_server == simulated else f"{by_hand}, or {fake}"
