"""Intervals and p values over origins: known answers, properties, and coverage in worlds whose mean is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from _interval_methods import METHODS
from _interval_worlds import WORLDS, World
from hypothesis import given
from hypothesis import strategies as st
from intervals import false_discoveries
from scipy.stats import binomtest

from turngate.traces.analysis.statistics import (
    FEW_ORIGINS,
    adjusted,
    cluster_mean,
    mean_interval,
    sign_flip_p,
    smallest_p,
)

Groups = dict[str, list[float]]

shares = st.floats(0, 1, allow_subnormal=False)
samples = st.lists(shares | st.sampled_from([0.0, 0.5, 1.0]), min_size=FEW_ORIGINS, max_size=30)
ranges = st.tuples(st.integers(-100, 100), st.integers(1, 200)).map(lambda pair: (pair[0], pair[0] + pair[1]))
studies = st.lists(st.lists(shares, min_size=1, max_size=4), max_size=12).map(
    lambda found: {f"origin {number}": items for number, items in enumerate(found)}
)


def spread(values: list[float], bounds: tuple[float, float]) -> list[float]:
    return [bounds[0] + (bounds[1] - bounds[0]) * value for value in values]


# Intervals.


def test_none_of_eight_leaves_37_percent() -> None:
    found = cluster_mean({str(name): [0.0, 0.0, 0.0] for name in range(8)}, (0, 1))
    assert (found.value, found.low, found.clusters, found.by_origin) == (0.0, 0.0, 8, {})
    assert found.high == pytest.approx(0.3694, abs=5e-5)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 8), abs=1e-9)


@pytest.mark.parametrize("origins", [5, 8, 40])
def test_for_yes_and_no_it_is_the_interval_of_clopper_and_pearson(origins: int) -> None:
    for yes in range(origins + 1):
        exact = binomtest(yes, origins).proportion_ci(0.95, method="exact")
        found = mean_interval([1.0] * yes + [0.0] * (origins - yes), (0, 1))
        assert found == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.parametrize("origins", [5, 16, 120])
def test_it_is_the_quantile_of_random_weights(origins: int) -> None:
    """The definition, by draws: the mean at Dirichlet weights, with the bound as one more value."""
    rng = np.random.default_rng(origins)
    values = rng.beta(0.3, 0.6, origins)
    weights = rng.dirichlet(np.ones(origins + 1), 40_000)
    low = np.quantile(weights @ np.append(values, 0), 0.025)
    high = np.quantile(weights @ np.append(values, 1), 0.975)
    assert mean_interval(values.tolist(), (0, 1)) == pytest.approx((low, high), abs=0.006)


@given(samples, ranges)
def test_it_contains_the_value_within_the_bounds_and_has_a_width(values: list[float], bounds: tuple[int, int]) -> None:
    spread_values = spread(values, bounds)
    found = cluster_mean({str(name): [value] for name, value in enumerate(spread_values)}, bounds)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert bounds[0] <= found.low <= found.value <= found.high <= bounds[1]
    alike = (1 - 0.025 ** (1 / len(values))) * (bounds[1] - bounds[0])
    assert found.high - found.low >= alike - 1e-8, "never narrower than where all origins are alike"


@given(samples, ranges)
def test_a_mirrored_sample_has_the_mirrored_interval(values: list[float], bounds: tuple[int, int]) -> None:
    spread_values = spread(values, bounds)
    low, high = mean_interval(spread_values, bounds)
    mirrored = mean_interval([-value for value in spread_values], (-bounds[1], -bounds[0]))
    assert mirrored == pytest.approx((-high, -low), abs=1e-8)


@given(samples, st.integers(0, 29), shares)
def test_a_higher_value_lowers_neither_end(values: list[float], which: int, to: float) -> None:
    raised = list(values)
    raised[which % len(values)] = max(to, values[which % len(values)])
    before, after = mean_interval(values, (0, 1)), mean_interval(raised, (0, 1))
    assert after[0] >= before[0] - 1e-9
    assert after[1] >= before[1] - 1e-9


@given(samples, st.integers(1, 5))
def test_one_more_of_the_same_item_changes_nothing(values: list[float], copies: int) -> None:
    """Runs of an origin are no evidence of their own."""
    once = {str(name): [value] for name, value in enumerate(values)}
    more = {**once, "0": [values[0]] * (1 + copies)}
    assert cluster_mean(more, (0, 1)) == cluster_mean(once, (0, 1))


@given(studies)
def test_each_origin_weighs_the_same_and_few_stand_by_name(groups: Groups) -> None:
    found = cluster_mean({**groups, "without items": []}, (0, 1))
    means = {name: float(np.mean(items)) for name, items in groups.items()}
    assert found.clusters == len(groups)
    assert found.value == (pytest.approx(float(np.mean(list(means.values())))) if means else None)
    few = len(groups) < FEW_ORIGINS
    assert found.by_origin == (pytest.approx(means) if few else {})
    assert (found.low is None, found.high is None) == (few, few)


def test_the_unit_must_fit_and_the_bounds_be_bounds() -> None:
    with pytest.raises(ValueError, match=r"61 of kodak-3 is outside of 0\.0 to 1\.0"):
        cluster_mean({"kodak-3": [61]}, (0, 1))
    with pytest.raises(ValueError, match="outside"):
        cluster_mean({"a": [float("nan")]}, (0, 1))
    with pytest.raises(ValueError, match="lower one first"):
        cluster_mean({"a": [0.5]}, (1, 0))
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([], (0, 1))
    assert mean_interval([0.1 + 0.2] * 5, (0, 0.3))[1] == 0.3, "what rounding adds is no error"


CHECKED = [world for world in WORLDS if "exposure" not in world.name or "1 run" in world.name]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_worlds_have_the_mean_that_they_say(world: World) -> None:
    drawn = world.draw(np.random.default_rng(0), 10_000, 5).mean(axis=2)
    assert drawn.mean() == pytest.approx(world.mean, abs=5 * drawn.std() / drawn.size**0.5)
    assert world.bounds[0] <= drawn.min() <= drawn.max() <= world.bounds[1]


@pytest.mark.parametrize("origins", [8, 16])
@pytest.mark.parametrize("world", CHECKED, ids=lambda world: world.name)
def test_95_percent_are_at_least_93(world: World, origins: int) -> None:
    drawn = world.draw(np.random.default_rng(2), 200, origins).mean(axis=2)

    def coverage(method: str) -> float:
        low, high = METHODS[method](drawn, world.bounds)
        return float(((low <= world.mean) & (world.mean <= high)).mean())

    assert coverage("Gaffke (ours)") >= 0.93
    if origins == 8:
        assert coverage("percentile bootstrap") < 0.93, "the world would not notice a poor interval"


# p values.


@given(st.lists(st.integers(-9, 9).map(float), min_size=FEW_ORIGINS, max_size=8))
def test_the_sign_flip_test_counts_all_flips(differences: list[float]) -> None:
    """By hand: the share of sign patterns whose sum is at least as far from 0, times two sides."""
    observed = sum(differences)
    signs = product((1, -1), repeat=len(differences))
    sums = [sum(s * d for s, d in zip(pattern, differences, strict=True)) for pattern in signs]
    above = sum(total >= observed - 1e-9 for total in sums) / len(sums)
    below = sum(total <= observed + 1e-9 for total in sums) / len(sums)
    assert sign_flip_p(differences) == pytest.approx(min(1.0, 2 * min(above, below)))


@pytest.mark.parametrize("origins", [1, 4, 5, 8, 13, 14, 20])
def test_the_smallest_p_is_that_of_equal_differences(origins: int) -> None:
    found = smallest_p(origins)
    assert sign_flip_p([-0.25] * origins) == (found if found is None else pytest.approx(found))
    assert (found is None) == (origins < FEW_ORIGINS)
    if FEW_ORIGINS <= origins <= 13:
        assert found == 2 / 2**origins


def test_p_values_are_corrected_for_their_number() -> None:
    """Benjamini and Hochberg by hand: 0.01 x 3 / 1, 0.02 x 3 / 2, 0.5 x 3 / 3."""
    assert adjusted([0.01, None, 0.5, 0.02]) == [pytest.approx(0.03), None, pytest.approx(0.5), pytest.approx(0.03)]
    assert adjusted([None]) == [None]


@pytest.mark.slow
def test_controls_in_the_family_make_own_arms_look_good() -> None:
    """100 studies of three gates that do nothing: controls that differ let more of them through."""
    together, alone = (float(row[4]) for row in false_discoveries(8, 3, 0, 100, seed=1))
    assert alone <= 0.05 < together
