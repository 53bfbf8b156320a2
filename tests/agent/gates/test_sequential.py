"""Gates that fold over the score stream: small cases by hand, and their recursions."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from turngate.agent.gate import Accepted, Gate, Past
from turngate.agent.gates.spc import student

from ._support import accepts, direction, gate, past, reading, score, stream

KNOWN = {"mean": 0.0, "sd": 1.0}
SEQUENTIAL: list[dict[str, Any]] = [
    {"type": "k_sigma", "baseline": KNOWN},
    {"type": "cusum", "baseline": KNOWN},
    {"type": "ewma", "baseline": KNOWN},
    {"type": "page_hinkley", "threshold": 3, "delta": 0},
]


def statistic(made: Gate, value: float, before: Past, which: Any = "lower", key: str = "statistic") -> float:
    found = made.decide(reading(value, which), before).evidence[key]
    assert isinstance(found, float)
    return found


def test_k_sigma_by_hand() -> None:
    """Mean 12 and SD 2, so 2 SDs worse is 16; a far better score passes."""
    made, before = gate(type="k_sigma", evaluator="q", baseline={"mean": 12, "sd": 2}, k=2), past(None, [99])
    decision = made.decide(reading(16.0), before)
    assert (decision.verdict, decision.evidence["mean"], decision.evidence["sd"]) == ("accept", 12, 2)
    assert (decision.evidence["statistic"], decision.thresholds) == (2, {"q": 16})
    assert not accepts(made, 16.1, before)
    assert accepts(made, -1000.0, before)


@pytest.mark.parametrize(("scores", "within"), [(10, 0.003), (20, 0.002), (30, 0.001), (100, 0.001)])
def test_the_limit_of_a_warm_up_is_a_prediction_limit(scores: int, within: float) -> None:
    """k = 3 is Student's quantile of the rate of 3 normal SDs, times sqrt(1 + 1/n); SciPy knows it."""
    before = past(None, [10.0, 14.0] * (scores // 2))
    decision = gate(type="k_sigma", evaluator="q", warmup=scores).decide(reading(12.0), before)
    exact = stats.t.isf(stats.norm.sf(3), scores - 1) * sqrt(1 + 1 / scores)
    assert decision.evidence["limit"] == pytest.approx(exact, rel=within)


@given(st.floats(0.01, 1e6), st.integers(2, 1000))
def test_an_estimated_baseline_never_narrows_a_limit(k: float, scores: int) -> None:
    wider, narrower = student(k, scores), student(k, scores + 1)
    assert k <= narrower <= wider < inf or narrower == pytest.approx(k, rel=1e-3) or wider > 1e80


def test_a_baseline_relative_to_the_origin_follows_it() -> None:
    """5 worse than the origin is usual, SD 1: with k 3 the limit is 8 worse, whatever the origin has."""
    known = {"mean": 5, "sd": 1, "relative_to_origin": True}
    made = gate(type="k_sigma", evaluator="q", baseline=known)
    assert made.decide(reading(20.0), past(30.0)).thresholds == {"q": 38}
    assert made.decide(reading(20.0), past(-3.0)).thresholds == {"q": 5}
    worse_is_lower = gate(type="k_sigma", evaluator="q", baseline={**known, "mean": -5})
    assert worse_is_lower.decide(reading(20.0, "higher"), past(30.0, which="higher")).thresholds == {"q": 22}
    unknown = made.decide(reading(99.0), past())
    assert (unknown.verdict, unknown.thresholds) == ("accept", {})
    assert "the origin has no score" in unknown.reason


def test_the_origin_counts_in_the_baseline_when_asked() -> None:
    """16, 10, 12, 14: mean 13, SD sqrt(20 / 3)."""
    made = gate(type="k_sigma", evaluator="q", warmup=3, with_origin=True)
    decision = made.decide(reading(13.0), past(16.0, [10, 12, 14]))
    assert decision.evidence["mean"] == 13
    assert decision.evidence["sd"] == pytest.approx(sqrt(20 / 3))
    assert "warm-up, 2 of 3" in made.decide(reading(13.0), past(16.0, [10, 12])).reason


@pytest.mark.parametrize("kind", ["k_sigma", "cusum", "ewma"])
@pytest.mark.parametrize("then", ["accept", "reject"])
def test_until_the_warm_up_is_full_nothing_is_compared(kind: str, then: str) -> None:
    made = gate(type=kind, evaluator="q", warmup=3, in_warmup=then)
    assert made.decide(reading(1e6), past(None, [1.0, 2.0])).verdict == then
    assert made.decide(reading(1e9), past(None, [1.0, 2.0, 3.0])).verdict == "reject"
    assert made.decide(reading(2.0), past(None, [1.0, 2.0, 3.0])).verdict == "accept"


def test_equal_warm_up_scores_have_the_floor_as_their_sd() -> None:
    before = past(None, [5.0] * 10)
    assert not accepts(gate(type="k_sigma", evaluator="q"), 5.001, before)
    assert accepts(gate(type="k_sigma", evaluator="q", sd_floor=0.01), 5.001, before)


def test_images_without_a_score_are_passed_over() -> None:
    with_gap = past(None, [10, 12, 14])
    gap = Past(5, 1, 0, {}, [*with_gap.accepted[:2], Accepted(3, {}), *with_gap.accepted[2:]])
    made = gate(type="k_sigma", evaluator="q", warmup=3)
    assert made.decide(reading(13.0), gap).evidence == made.decide(reading(13.0), with_gap).evidence


@pytest.mark.parametrize("config", SEQUENTIAL, ids=lambda config: config["type"])
@given(accepted=stream, value=score)
def test_only_the_lineage_counts(config: dict[str, Any], accepted: list[float], value: float) -> None:
    """Turns that were rejected or rolled back, and earlier attempts, leave no trace."""
    made = gate(evaluator="q", **config)
    late = [Accepted(3 * turn, reading(one)) for turn, one in enumerate(accepted, 1)]
    other = Past(99, 4, 7, {}, late)
    assert made.decide(reading(value), other) == made.decide(reading(value), past(None, accepted))


def test_cusum_by_hand() -> None:
    """1.0 and 1.5 add up to 0.5 and 1.5; the candidate's 1.0 makes 2.0, which is just h."""
    made, before = gate(type="cusum", evaluator="q", baseline=KNOWN, h=2), past(None, [-4.0, 1.0, 1.5])
    decision = made.decide(reading(1.0), before)
    assert (decision.verdict, decision.evidence["statistic"], decision.thresholds) == ("accept", 2, {"q": 1})
    assert not accepts(made, 1.1, before)
    assert accepts(made, -9.0, before)


def test_the_warm_up_is_not_watched() -> None:
    """10, 10, 14, 14 are the baseline (12, SD 2.309) and add nothing: 1 SD worse than usual is the first that counts.

    k is raised by the mean's standard error, 1 / sqrt(4), and h and L by how much rarer Student's 3 SDs are.
    """
    before, one_worse = past(None, [10, 10, 14, 14]), 12 + sqrt(16 / 3)
    cusum = gate(type="cusum", evaluator="q", warmup=4, k=0.25, h=6)
    assert statistic(cusum, one_worse, before) == pytest.approx(1 - 0.25 - 0.5)
    assert statistic(cusum, one_worse, before, key="limit") == pytest.approx(2 * student(3, 4))
    ewma = gate(type="ewma", evaluator="q", warmup=4, weight=0.2, width=3)
    assert statistic(ewma, one_worse, before) == pytest.approx(0.2)
    exact = 0.2 * sqrt(1 + 1 / 4) * student(3, 4)
    assert statistic(ewma, one_worse, before, key="limit") == pytest.approx(exact), "the SD of a first average is w"


def test_cusum_on_both_sides() -> None:
    made = gate(type="cusum", evaluator="q", baseline=KNOWN, h=2, two_sided=True)
    decision = made.decide(reading(-1.1), past(None, [-1.0, -1.5]))
    assert decision.verdict == "reject"
    assert "better side" in decision.reason
    assert decision.evidence["statistic_better"] == pytest.approx(2.1)
    assert accepts(made, -0.9, past(None, [-1.0, -1.5]))
    assert not accepts(made, 3.0, past(None, [])), "the worse side is watched too"


@given(accepted=stream, value=score, which=direction, k=st.floats(0.1, 2), mean=score, sd=st.floats(0.1, 9))
def test_cusum_is_its_recursion(
    accepted: list[float], value: float, which: Any, k: float, mean: float, sd: float
) -> None:
    """Page (1954): S_i = max(0, S_(i-1) + z_i - k)."""
    made = gate(type="cusum", evaluator="q", k=k, baseline={"mean": mean, "sd": sd}, two_sided=True)
    up = down = 0.0
    for one in [*accepted, value]:
        z = (one - mean) / sd if which == "lower" else (mean - one) / sd
        up, down = max(0.0, up + z - k), max(0.0, down - z - k)
    before = past(None, accepted, which)
    assert statistic(made, value, before, which) == pytest.approx(up, abs=1e-9)
    assert statistic(made, value, before, which, "statistic_better") == pytest.approx(down, abs=1e-9)


def test_ewma_by_hand() -> None:
    """Weight 0.5: after 1 the average is 0.5, with another 1 it is 0.75; the limit is 2 sqrt(1/3 (1 - 1/16))."""
    made = gate(type="ewma", evaluator="q", baseline=KNOWN, weight=0.5, width=2)
    decision = made.decide(reading(1.0), past(None, [1.0]))
    assert (decision.verdict, decision.evidence["statistic"]) == ("accept", 0.75)
    assert decision.evidence["limit"] == pytest.approx(2 * sqrt(1 / 3 * (1 - 1 / 16)))
    assert not accepts(made, 2.0, past(None, [1.0]))


@given(accepted=stream, value=score, which=direction, weight=st.floats(0.05, 1), mean=score, sd=st.floats(0.1, 9))
def test_ewma_is_its_recursion(
    accepted: list[float], value: float, which: Any, weight: float, mean: float, sd: float
) -> None:
    """Roberts (1959): Z_i = w z_i + (1 - w) Z_(i-1)."""
    made = gate(type="ewma", evaluator="q", weight=weight, baseline={"mean": mean, "sd": sd})
    average = 0.0
    for one in [*accepted, value]:
        average = weight * (one - mean) / sd * (1 if which == "lower" else -1) + (1 - weight) * average
    assert statistic(made, value, past(None, accepted, which), which) == pytest.approx(average, abs=1e-9)


def test_the_ewma_limit_is_a_multiple_of_the_averages_own_sd() -> None:
    """4000 streams of 6 normal scores: the SD of the sixth average is the limit over L, within four standard errors."""
    made, rng = gate(type="ewma", evaluator="q", baseline=KNOWN, weight=0.3, width=3), np.random.default_rng(1)
    streams = rng.standard_normal((4000, 6))
    averages = [statistic(made, one[-1], past(None, one[:-1].tolist())) for one in streams]
    expected = statistic(made, 0.0, past(None, [0.0] * 5), key="limit") / 3
    assert np.std(averages) == pytest.approx(expected, abs=4 * expected / sqrt(2 * 4000))


def test_an_ewma_of_the_newest_score_alone_is_k_sigma() -> None:
    ewma, shewhart = (gate(evaluator="q", warmup=3, **one) for one in ({"type": "ewma", "weight": 1}, SHEWHART))
    before = past(None, [10, 12, 14, 11])
    assert [accepts(ewma, v, before) for v in range(30)] == [accepts(shewhart, v, before) for v in range(30)]


SHEWHART = {"type": "k_sigma", "k": 3}


def test_page_hinkley_by_hand() -> None:
    """After 1, 1, 1 a 3 lies 1.5 above the new mean; with delta 0.1 each step gives 0.1 back."""
    made, before = gate(type="page_hinkley", evaluator="q", threshold=1.5, delta=0), past(None, [1.0, 1.0, 1.0])
    assert statistic(made, 3.0, before) == 1.5
    assert accepts(made, 3.0, before) and not accepts(made, 3.01, before)
    tolerant = gate(type="page_hinkley", evaluator="q", threshold=1.5, delta=0.1)
    assert statistic(tolerant, 3.0, before) == pytest.approx(1.4)


def test_page_hinkley_waits_for_its_warm_up_and_may_begin_at_the_origin() -> None:
    made = gate(type="page_hinkley", evaluator="q", threshold=1, delta=0, warmup=3)
    assert "warm-up, 2 of 3" in made.decide(reading(99.0), past(None, [1.0, 1.0])).reason
    assert accepts(made, 99.0, past(None, [1.0, 1.0])) and not accepts(made, 99.0, past(None, [1.0] * 3))
    assert accepts(gate(type="page_hinkley", evaluator="q", threshold=1, delta=0), 99.0, past(1.0))
    assert not accepts(
        gate(type="page_hinkley", evaluator="q", threshold=1, delta=0, with_origin=True), 99.0, past(1.0)
    )


@given(st.lists(score, min_size=1, max_size=20), direction, st.floats(0, 2))
def test_page_hinkley_is_its_definition(values: list[float], which: Any, delta: float) -> None:
    """m_t is the sum of x_i - mean(x_1..x_i) - delta; the statistic is m_n - min m_t."""
    made = gate(type="page_hinkley", evaluator="q", threshold=1, delta=delta)
    worse = np.array(values) if which == "lower" else -np.array(values)
    walk = np.cumsum(worse - np.cumsum(worse) / np.arange(1, len(worse) + 1) - delta)
    found = statistic(made, values[-1], past(None, values[:-1], which), which)
    assert found == pytest.approx(float(walk[-1] - walk.min()), abs=1e-7)
