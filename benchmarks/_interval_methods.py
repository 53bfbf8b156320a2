"""Intervals beside each other: each takes the means of origins, studies x origins, and the bounds of the values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from turngate.traces.analysis.statistics import mean_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ends = tuple[NDArray[np.float64], NDArray[np.float64]]
    Means = NDArray[np.float64]


def percentile(means: Means, bounds: tuple[float, float]) -> Ends:
    """Percentiles of 2000 draws of whole origins: what turngate 0.1.0 did."""
    origins = means.shape[1]
    picks = np.random.default_rng(0).integers(0, origins, (2000, origins))
    weights = np.stack([np.bincount(pick, minlength=origins) for pick in picks]) / origins
    low, high = np.percentile(means @ weights.T, [2.5, 97.5], axis=1)
    return low, high


def bca(means: Means, bounds: tuple[float, float]) -> Ends:
    """The bias-corrected and accelerated bootstrap; where all origins are alike it has no ends, and width 0 here."""
    low, high = means.mean(axis=1), means.mean(axis=1)
    varied = np.ptp(means, axis=1) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        found = stats.bootstrap(
            (means[varied],), np.mean, axis=-1, method="BCa", n_resamples=1000, batch=50, rng=np.random.default_rng(0)
        ).confidence_interval
    low[varied], high[varied] = found.low, found.high
    return low, high


def student(means: Means, bounds: tuple[float, float]) -> Ends:
    """Student's t over origins, cut at the bounds."""
    origins = means.shape[1]
    half = stats.t.ppf(0.975, origins - 1) * means.std(axis=1, ddof=1) / origins**0.5
    return np.maximum(means.mean(axis=1) - half, bounds[0]), np.minimum(means.mean(axis=1) + half, bounds[1])


def betting(means: Means, bounds: tuple[float, float]) -> Ends:
    """Hedged capital of Waudby-Smith and Ramdas (J. R. Statist. Soc. B 86, 2024, theorem 3), on a grid of 1000 means.

    Written out because confseq, its authors' package, has no wheels and needs a C++ compiler and Boost.
    """
    shares = (means - bounds[0]) / (bounds[1] - bounds[0])
    origins = shares.shape[1]
    grid = (np.arange(1000) + 0.5) / 1000
    up, down = (np.zeros((len(shares), len(grid))) for _ in range(2))
    inside = np.ones(up.shape, dtype=bool)
    total, squares, variance = np.full(len(shares), 0.5), np.full(len(shares), 0.25), np.full(len(shares), 0.25)
    for seen in range(origins):
        value = shares[:, seen]
        bet = np.sqrt(2 * np.log(2 / 0.05) / (origins * variance))[:, None]
        away = value[:, None] - grid
        up += np.log1p(np.minimum(bet, 0.5 / grid) * away)
        down += np.log1p(-np.minimum(bet, 0.5 / (1 - grid)) * away)
        inside &= np.maximum(up, down) + np.log(0.5) < np.log(1 / 0.05)
        total += value
        squares += (value - total / (seen + 2)) ** 2
        variance = squares / (seen + 2)
    low = bounds[0] + (bounds[1] - bounds[0]) * grid[inside.argmax(axis=1)]
    high = bounds[0] + (bounds[1] - bounds[0]) * grid[len(grid) - 1 - inside[:, ::-1].argmax(axis=1)]
    return low, high


def gaffke(means: Means, bounds: tuple[float, float]) -> Ends:
    """What turngate does."""
    ends = np.array([mean_interval(row, bounds) for row in means.tolist()])
    return ends[:, 0], ends[:, 1]


METHODS: dict[str, Callable[[Means, tuple[float, float]], Ends]] = {
    "percentile bootstrap": percentile,
    "BCa bootstrap": bca,
    "Student's t": student,
    "betting": betting,
    "Gaffke (ours)": gaffke,
}
