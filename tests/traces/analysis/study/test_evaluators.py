"""How well an evaluator tells damage: within runs without a gate, for each editor by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from tests.traces.analysis.worlds import Chain, Rows, study

from turngate.traces.analysis.statistics import cluster_mean
from turngate.traces.analysis.study import (
    ALL_EDITORS,
    STEPS,
    Denominator,
    EvaluatorAnswer,
    Judged,
    answer_study,
    auc,
    gaps_of,
    mean_roc,
    roc,
)

candidates = st.lists(
    st.builds(Judged, st.integers(-5, 5).map(float), st.booleans()), max_size=40
)  # few values, so that ties are common
Curve = list[tuple[float, float]]


def area(points: Curve) -> float:
    return math.fsum((right - left) * (low + high) / 2 for (left, low), (right, high) in pairwise(points))


def test_auc_of_a_small_case_by_hand() -> None:
    """Pairs (sound, damaged): 3>1, 3>2, 2>1, 2=2: 3.5 of 4."""
    found = [Judged(3, False), Judged(2, False), Judged(1, True), Judged(2, True)]
    assert auc(found) == 3.5 / 4


def test_a_misled_evaluator_has_an_area_below_one_half() -> None:
    assert auc([Judged(0, False), Judged(1, True)]) == 0.0


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
    assert value == pytest.approx(area(points))


@settings(max_examples=60)
@given(st.lists(candidates, max_size=5))
def test_the_area_of_the_mean_curve_is_the_mean_of_the_areas(runs: list[list[Judged]]) -> None:
    known = [value for one in runs if (value := auc(one)) is not None]
    curve = mean_roc([roc(one) for one in runs])
    if not known:
        assert curve == []
        return
    assert area(curve) == pytest.approx(sum(known) / len(known))
    assert (curve[0], curve[-1]) == ((0.0, 0.0), (1.0, 1.0))
    assert all(a[0] <= b[0] and a[1] <= b[1] + 1e-12 for a, b in pairwise(curve))


def bare(rows: Sequence[tuple[float, float]], name: str = "a", wrong: bool = False) -> Chain:
    """A run without a gate whose candidates are (damage, score)."""
    chain = Chain(len(rows), origin=name)
    for turn, (damage, score) in enumerate(rows, 1):
        chain.add(f"{name}-{turn}", damage, scores={"m": -score if wrong else score})
    return chain


RIGHT = [(0.0, 9.0), (0.1, 8.0), (0.9, 2.0), (0.9, 1.0)]


def told(rows: Rows, **more: object) -> EvaluatorAnswer:
    [found] = answer_study(study(rows, **more)).evaluators  # type: ignore[arg-type]
    return found


def test_a_right_one_and_its_opposite() -> None:
    right, wrong = (told([("no-gate", "a", "", bare(RIGHT, wrong=turned))]) for turned in (False, True))
    assert (right.arm, right.editors[0].auc.value, wrong.editors[0].auc.value) == ("no-gate", 1.0, 0.0)
    [row] = right.editors
    assert (row.editor, row.damaged, row.sound, row.runs, row.of_runs) == ("scripted", 2, 2, 1, 1)
    assert (right.candidates, right.of_candidates) == (4, 4)


def test_only_runs_without_a_gate_are_looked_at() -> None:
    rows = [("no-gate", "a", "", bare(RIGHT)), ("gated", "a", "", bare(RIGHT, wrong=True))]
    assert told(rows).editors[0].auc.value == 1.0
    alone = told(rows[1:])
    assert (alone.arm, alone.editors, alone.overall, alone.candidates) == (None, [], None, 0)
    assert alone.counts.scored == 4, "counts are over all arms"


def test_editors_are_never_pooled() -> None:
    """Backwards within each editor, while the worse editor scores worse: a pool would say 0.56."""
    mild = [(0.0, 11.0), (0.0, 12.0), (0.0, 13.0), (0.9, 14.0)]
    harsh = [(0.0, 1.0), (0.9, 2.0), (0.9, 3.0), (0.9, 4.0)]
    pool = [Judged(score, damage > 0.5) for damage, score in mild + harsh]
    assert auc(pool) == 9 / 16, "better than a coin"
    found = told([("no-gate", "a", "mild", bare(mild, "a")), ("no-gate", "a", "harsh", bare(harsh, "a"))])
    assert [(one.editor, one.auc.value) for one in found.editors] == [("mild", 0.0), ("harsh", 0.0), (ALL_EDITORS, 0.0)]
    assert found.overall is not None
    assert (found.overall.damaged, found.overall.sound) == (4, 4)


def test_runs_of_an_origin_are_averaged_before_origins() -> None:
    rows: Rows = [
        ("no-gate", "a", "", bare(RIGHT, "a")), ("no-gate", "a", "", bare(RIGHT, "a", wrong=True)),
        ("no-gate", "b", "", bare(RIGHT, "b")), ("no-gate", "c", "", bare([(0.0, 1.0), (0.0, 2.0)], "c")),
    ]  # fmt: skip
    [row] = told(rows).editors
    assert (row.auc.value, row.auc.by_origin) == (0.75, {"a": 0.5, "b": 1.0})
    assert (row.runs, row.of_runs, row.damaged, row.sound) == (3, 4, 6, 8), "a run without damage has no area"
    assert area(row.roc) == pytest.approx(0.75), "the curve weighs origins as the area does"


@pytest.mark.parametrize("origins_of_b", [1, 2, 5, 8])
def test_the_mean_of_unbalanced_editors_lies_in_its_interval(origins_of_b: int) -> None:
    """Editor a on 8 origins, always right; b on the first few of them, always wrong: the mean is one half."""
    names = "pqrstuvw"
    rows = [("no-gate", name, "a", bare(RIGHT, name)) for name in names]
    rows += [("no-gate", name, "b", bare(RIGHT, name, wrong=True)) for name in names[:origins_of_b]]
    found = told(rows)
    assert [one.auc.value for one in found.editors] == [1.0, 0.0, 0.5]
    overall = found.editors[-1].auc
    assert overall.low is not None
    assert overall.high is not None
    assert 0 <= overall.low < 0.5 < overall.high <= 1
    assert overall.clusters == 8
    if origins_of_b == 8:
        assert overall == cluster_mean({name: [0.5] for name in names}, (0, 1)), "balanced: the mean of each origin"


def test_with_few_origins_the_mean_of_editors_shows_each_origins_mean() -> None:
    rows = [("no-gate", name, "a", bare(RIGHT, name)) for name in "pq"]
    found = told([*rows, ("no-gate", "q", "b", bare(RIGHT, "q", wrong=True))])
    assert found.editors[-1].auc.value == 0.5
    assert found.editors[-1].auc.by_origin == {"p": 1.0, "q": 0.5}


@settings(max_examples=30)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from([0.0, 0.9]), st.integers(0, 6).map(float)), min_size=2, max_size=8),
        min_size=1, max_size=4,
    ),
    st.data(),
)  # fmt: skip
def test_the_area_is_the_same_when_each_run_has_a_scale_of_its_own(
    runs: list[list[tuple[float, float]]], data: st.DataObject
) -> None:
    rows = [("no-gate", f"o{number}", "e", bare(one, f"o{number}")) for number, one in enumerate(runs)]
    scaled = []
    for one in runs:
        factor, shift = data.draw(st.integers(1, 9)), data.draw(st.integers(-50, 50))
        scaled.append([(damage, factor * score**3 + shift) for damage, score in one])
    again = [("no-gate", f"o{number}", "e", bare(one, f"o{number}")) for number, one in enumerate(scaled)]
    assert told(rows).editors == told(again).editors


def test_no_change_and_images_seen_before_are_left_out() -> None:
    """Duplicates of any candidate, the origin and the unchanged input change nothing."""
    plain = bare(RIGHT)
    noisy = Chain(9, origin="a")
    for turn, (damage, score) in enumerate(RIGHT, 1):
        noisy.add(f"a-{turn}", damage, scores={"m": score})
        noisy.add(f"a-{turn}", damage, scores={"m": score})  # no change
    noisy.add("a", 0.0, "rollback", scores={"m": -99.0})  # the origin again
    noisy.add("a-1", 0.0, scores={"m": 9.0})  # an image again
    first, second = told([("no-gate", "a", "", plain)]), told([("no-gate", "a", "", noisy)])
    assert first.editors == second.editors
    assert (second.candidates, second.of_candidates) == (4, 4)


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["rollback", "restart", "accept"])), max_size=10))
def test_judging_is_unchanged_by_repeated_images(again: list[tuple[int, str]]) -> None:
    plain = bare(RIGHT, "a")
    noisy = bare(RIGHT, "a")
    noisy.planned = 4 + len(again)
    for which, action in again:
        name = "a" if which >= 4 else f"a-{which + 1}"
        damage, score = RIGHT[which] if which < 4 else (0.0, 0.0)
        noisy.add(name, damage, action, scores={"m": score})  # type: ignore[arg-type]
    assert told([("no-gate", "a", "", noisy)]).editors == told([("no-gate", "a", "", plain)]).editors


def test_beyond_a_divergence_nothing_is_judged() -> None:
    chain = bare(RIGHT).add("a-5", 0.9, scores={"m": 50.0}, beyond=True)
    found = told([("no-gate", "a", "", chain)])
    assert (found.editors[0].auc.value, found.candidates, found.of_candidates) == (1.0, 4, 4)


def test_candidates_without_a_score_or_a_truth_are_counted_beside() -> None:
    chain = bare(RIGHT).add("a-5", None, scores={"m": 5.0}).add("a-6", 0.9, scores={"m": None})
    found = told([("no-gate", "a", "", chain)])
    assert (found.candidates, found.of_candidates) == (4, 5)
    assert (found.counts.scored, found.counts.unscored) == (5, 1)


def falling(damages: Sequence[float], scores: Sequence[float], name: str) -> Chain:
    chain = Chain(20, origin=name)
    for turn in range(1, 21):
        chain.add(f"{name}-{turn}", damages[turn - 1], scores={"m": scores[turn - 1]})
    return chain


def test_the_pass_rule_is_told_only_where_truth_fell() -> None:
    down, level, up = [turn / 25 for turn in range(20)], [0.3] * 20, [float(turn) for turn in range(20)]
    sinking = [-score for score in up]
    gap = told([
        ("no-gate", "a", "", falling(down, sinking, "a")), ("no-gate", "b", "", falling(level, up, "b")),
    ]).gap  # fmt: skip
    assert (gap.runs, gap.not_fallen, gap.failures, gap.passes) == (1, 1, 0, True)
    failed = told([("no-gate", "a", "", falling(down, up, "a"))]).gap
    assert (failed.runs, failed.failures, failed.passes) == (1, 1, False)
    assert told([("no-gate", "b", "", falling(level, up, "b"))]).gap.passes is None


# The gap by itself.


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
