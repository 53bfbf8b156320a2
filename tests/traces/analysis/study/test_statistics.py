"""Statistics of a study against cases computed by hand and against scipy."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from turngate.traces.analysis.statistics import bootstrap, bootstrap_ratio
from turngate.traces.analysis.study import STEPS, Denominator, Judged, auc, gaps_of, roc

candidates = st.lists(
    st.builds(Judged, st.integers(-5, 5).map(float), st.booleans()), max_size=40
)  # few values, so that ties are common


def test_auc_of_a_small_case_by_hand() -> None:
    """Pairs (sound, damaged): 3>1, 3>2, 2>1, 2=2: 3.5 of 4."""
    found = [Judged(3, False), Judged(2, False), Judged(1, True), Judged(2, True)]
    assert auc(found) == 3.5 / 4


@given(candidates)
def test_auc_is_the_mann_whitney_statistic_and_the_area_below_the_curve(found: list[Judged]) -> None:
    sound = [one.oriented_score for one in found if not one.damaged]
    damaged = [one.oriented_score for one in found if one.damaged]
    value = auc(found)
    if not sound or not damaged:
        assert value is None
        assert roc(found) == []
        return
    assert value is not None
    assert value == pytest.approx(mannwhitneyu(sound, damaged).statistic / (len(sound) * len(damaged)))
    points = roc(found)
    assert points[0] == (0.0, 0.0)
    assert points[-1] == (1.0, 1.0)
    area = sum((right - left) * (low + high) / 2 for (left, low), (right, high) in pairwise(points))
    assert value == pytest.approx(area)


def test_a_misled_evaluator_has_an_area_below_one_half() -> None:
    assert auc([Judged(0, False), Judged(1, True)]) == 0.0


def test_the_interval_comes_from_the_origins_not_from_their_runs() -> None:
    """Two origins that disagree wholly: whatever the number of their runs, a draw gives 0, 1 or one half."""
    few = bootstrap_ratio({"a": [0], "b": [1]}, float)
    many = bootstrap_ratio({"a": [0] * 50, "b": [1] * 50}, float)
    assert few == many
    assert (few.value, few.low, few.high, few.clusters) == (0.5, 0.0, 1.0, 2)


def test_both_bootstraps_agree() -> None:
    rng = random.Random(3)
    groups = {str(name): [rng.random() for _ in range(name + 1)] for name in range(6)}
    fast = bootstrap_ratio(groups, lambda x: x, draws=500)
    slow = bootstrap(groups, lambda items: sum(items) / len(items), draws=500)
    assert (fast.value, fast.low, fast.high) == pytest.approx((slow.value, slow.low, slow.high))


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """200 studies of 20 origins with normal means: the 95 % interval holds 0 in 85 % to 99 % of them."""
    rng = random.Random(1)
    held = 0
    for _ in range(200):
        groups = {str(name): [rng.gauss(0, 1) + rng.gauss(0, 0.3)] for name in range(20)}
        found = bootstrap_ratio(groups, lambda x: x, draws=400)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0 <= found.high
    assert 170 <= held <= 198


def test_without_anything_to_divide_by_there_is_no_value() -> None:
    nothing = bootstrap_ratio({"a": [0], "b": [0]}, float, lambda _: 0.0)
    assert (nothing.value, nothing.low) == (None, None)
    assert bootstrap_ratio({}, float).value is None
    assert bootstrap_ratio({"a": [1, 2, 3]}, float).low is None, "one origin has no interval"


def test_the_gap_is_sign_corrected_and_passes_only_if_every_step_of_every_run_is_negative() -> None:
    """BRISQUE (lower is better) that falls from 34.1 to -9.8 says that the image got better: a failure."""
    misled = gaps_of("brisque", {"a": {1: 34.1, 5: 20, 10: 5, 20: -9.8}}, "lower")
    assert misled.deltas[20] == [pytest.approx(43.9)]
    assert (misled.failures, misled.passes) == (1, False)
    works = gaps_of("m", {"a": {1: 5, 5: 4, 10: 3, 20: 2}, "b": {1: 5, 5: 4.9, 10: 4.8, 20: 4.7}}, "higher")
    assert (works.runs, works.failures, works.passes) == (2, 0, True)
    level = gaps_of("m", {"a": {1: 5, 5: 5, 10: 3, 20: 2}}, "higher")
    assert level.failed == ["a"], "no change at step 5 is not a fall"


def test_a_run_that_is_too_short_neither_passes_nor_fails() -> None:
    found = gaps_of("m", {"a": {1: 5, 5: 4, 10: 3}, "b": {}}, "higher")
    assert (found.runs, found.left_out, found.passes) == (0, 2, None)


scores = st.dictionaries(
    st.sampled_from("abcd"), st.fixed_dictionaries({step: st.floats(-50, 50) for step in (1, *STEPS)}), min_size=1
)


@given(scores, st.sampled_from(["higher", "lower"]))
def test_verdicts_do_not_depend_on_the_denominator(found: dict[str, dict[int, float]], direction: str) -> None:
    names: list[Denominator] = ["none", "range", "ref_abs", "pooled_std", "max_abs"]
    gaps = {name: gaps_of("m", found, direction, name, width=7.0) for name in names}
    for name, gap in gaps.items():
        assert gap.failed == gaps["none"].failed
        for step in STEPS:
            normalised = gap.normalised[step]
            if normalised is not None:
                pairs = zip(normalised, gap.deltas[step], strict=True)
                assert all(math.copysign(1, a) == math.copysign(1, b) or 0 in (a, b) for a, b in pairs), name


def test_denominators_by_hand() -> None:
    found = {"a": {1: 2.0, 5: 1.0, 10: 0.0, 20: -2.0}}
    assert gaps_of("m", found, "higher", "ref_abs").normalised[20] == [-2.0]
    assert gaps_of("m", found, "higher", "max_abs").normalised[5] == [-0.25]
    assert gaps_of("m", found, "higher", "range", 10.0).normalised[10] == [-0.2]
    assert gaps_of("m", found, "higher", "range").normalised[10] is None, "the metric has no stated range"
    assert gaps_of("m", {"a": dict.fromkeys((1, 5, 10, 20), 0.0)}, "higher", "ref_abs").normalised[5] is None
