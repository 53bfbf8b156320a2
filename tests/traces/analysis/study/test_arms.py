"""An arm over all its runs: what adds up, what is a median, and what is a mean over origins."""

from __future__ import annotations

import pytest
from tests.traces.analysis.worlds import Chain, Rows, no_gate, rolls_back, stalls, study

from turngate.traces.analysis.run import RunAnswer
from turngate.traces.analysis.study import ArmAnswer, answer_study, first_damage, survival_points


def arms(rows: Rows, **more: object) -> dict[str, ArmAnswer]:
    return {one.arm: one for one in answer_study(study(rows, **more)).arms}  # type: ignore[arg-type]


def test_three_arms_three_answers() -> None:
    worlds = {"no-gate": no_gate, "strict": stalls, "back": rolls_back}
    found = arms([(arm, name, "", make(20, 3, name)) for arm, make in worlds.items() for name in "ab"])
    bare, strict, back = found["no-gate"], found["strict"], found["back"]
    assert [one.progress.value for one in (bare, strict, back)] == [15.0, 15.0, 75.0]
    assert [one.exposure.value for one in (bare, strict, back)] == [0.85, 0.0, 0.0]
    assert [one.stalled for one in (bare, strict, back)] == [0, 2, 0]
    assert [(one.episodes.caught, one.episodes.stalled, one.episodes.propagated) for one in (bare, strict, back)] == [
        (0, 0, 2), (0, 2, 0), (10, 0, 0),
    ]  # fmt: skip
    assert [one.last_new_turns for one in (bare, strict, back)] == [[20, 20], [3, 3], [19, 19]]
    assert bare.verdict.words == (
        "propagates in all 2 runs: a damaged image stands after 85 % of the turns, from turn 4 on"
    )
    assert strict.verdict.words == "stalls in all 2 runs: nothing new since turn 3, sound"
    assert back.verdict.words == "catches and goes on in all 2 runs: 75 new sound images per 100 turns, exposure 0"
    assert (bare.planned, bare.runs, bare.known_runs, bare.calls) == (40, 2, 2, 40)
    assert sum(bare.turns.model_dump().values()) == 40


def test_every_origin_weighs_the_same() -> None:
    """Origin a has three runs of progress 10, b one of 40: 25, not 17.5."""
    rows = [("x", "a", f"e{number}", no_gate(10, 1, f"a{number}")) for number in range(3)]
    found = arms([*rows, ("x", "b", "e0", no_gate(10, 4, "b"))])["x"]
    assert found.progress.value == 25.0
    assert (found.progress.low, found.progress.clusters) == (None, 2)
    assert found.progress.by_origin == {"a": 10.0, "b": 40.0}


def test_from_five_origins_on_there_is_an_interval_that_all_origins_alike_do_not_close() -> None:
    found = arms([("x", name, "", stalls(20, 3, name)) for name in "abcde"])["x"]
    assert (found.exposure.value, found.exposure.low) == (0.0, 0.0)
    assert found.exposure.high == pytest.approx(1 - 0.025 ** (1 / 5)), "the bound of Clopper and Pearson for 0 of 5"
    assert found.exposure.by_origin == {}


def test_a_run_without_truth_counts_in_no_rate() -> None:
    found = arms([("x", "a", "", no_gate(10, 5)), ("x", "b", "", Chain(10, measured=False).repeat(10, "b{}"))])["x"]
    assert (found.runs, found.known_runs, found.progress.value, found.exposure.value) == (2, 1, 50.0, 0.5)
    assert (found.first_damage.runs, found.first_damage.never) == (1, 0)
    assert found.verdict.runs == {"propagates": 1, "not_told": 1}
    first_unmeasured = answer_study(
        study([("x", "b", "", Chain(10, measured=False).repeat(10, "b{}")), ("x", "a", "", no_gate(10, 5))])
    )
    assert (first_unmeasured.truth_name, first_unmeasured.arms[0].progress.value) == ("truth", 50.0)


def test_an_arm_without_any_truth_has_no_rates_and_is_told_so() -> None:
    found = answer_study(study([("x", "a", "", Chain(20, measured=False).repeat(20, "b{}"))]))
    [arm] = found.arms
    assert (arm.progress.value, arm.exposure.value, arm.known_runs, arm.end_truth) == (None, None, 0, None)
    assert (found.truth, found.pairs, found.unbeaten, found.truth_better) == ([], [], [], None)
    assert arm.verdict.words.startswith("not told")


def test_costs_per_image_are_those_of_runs_that_know_their_cost() -> None:
    """Run a: 2 dollars, 2 images. Run b: 8 images, cost not known."""
    paid = Chain(2).add("a1", cost=1.0).add("a2", cost=1.0)
    found = arms([("x", "a", "", paid), ("x", "b", "", Chain(8).repeat(8, "b{}"))])["x"]
    assert (found.cost_usd, found.usd_per_progressed_turn) == (2.0, 1.0)
    assert arms([("x", "a", "", Chain(1).add("a", 0.9, cost=1.0))])["x"].usd_per_progressed_turn is None
    assert arms([("x", "a", "", Chain(1).add("a"))])["x"].cost_usd is None


def test_truth_is_compared_after_as_many_accepted_edits() -> None:
    """Edits after 0.1, 0.2, ...; an arm that refuses every other turn needs twice the turns for the same image."""
    quick, slow = Chain(12), Chain(12)
    for turn in range(1, 13):
        quick.add(f"q{turn}", turn / 10)
        if turn % 2:
            slow.add(f"s{turn}", (turn + 1) / 20)
        else:
            slow.add(f"bad{turn}", 0.9, "skip")
    found = arms([("quick", "a", "", quick), ("slow", "a", "", slow)])
    assert [(one.edits, one.value, one.runs) for one in found["quick"].truth_at] == [
        (1, 0.1, 1), (5, 0.5, 1), (10, 1.0, 1), (20, None, 0),
    ]  # fmt: skip
    assert [one.value for one in found["slow"].truth_at] == [0.1, 0.5, None, None]


def test_an_untouched_image_is_in_no_median_and_counted_beside_it() -> None:
    found = arms(
        [("x", "a", "", Chain(5).repeat(5, "bad", 0.9, "skip")), ("x", "b", "", Chain(5).repeat(5, "b{}", 0.3))]
    )
    assert (found["x"].end_truth, found["x"].end_untouched, found["x"].end_damaged) == (0.3, 1, 0)


def answer(planned: int, first: int | None, stopped: int | None = None) -> RunAnswer:
    chain = Chain(planned)
    for turn in range(1, (stopped or planned) + 1):
        if turn == stopped:
            chain.add("x", 0.9, "stop")
        else:
            chain.add(f"a{turn}", 0.9 if first is not None and turn >= first else 0.0)
    return chain.answer()


def test_first_damage_by_hand() -> None:
    """Four runs: damage at 2, none up to 3 planned turns, damage at 5, none up to 10. At 5 two runs are at risk."""
    found = first_damage([answer(10, 2), answer(3, None), answer(10, 5), answer(10, None)])
    assert found.turns == [2, 5]
    assert found.share == pytest.approx([3 / 4, 3 / 4 * 1 / 2])
    assert (found.runs, found.never) == (4, 2)
    assert survival_points(found, 10) == ([0, 2, 5, 10], [1.0, *found.share, found.share[-1]])


def test_a_run_that_stopped_early_is_carried_to_its_horizon() -> None:
    """Stopping at turn 2 keeps the damage out for all 10 turns: it is no censoring at turn 2."""
    found = first_damage([answer(10, 5), answer(10, None, stopped=2)])
    assert (found.turns, found.share, found.never) == ([5], [0.5], 1)


def test_a_diverged_run_is_known_up_to_where_it_diverged() -> None:
    diverged = Chain(10).repeat(2, "a{}").add("x", 0.0, "skip").add("y", 0.9, beyond=True)
    found = first_damage([answer(10, 5), diverged.answer()])
    assert (found.turns, found.share, found.never) == ([5], [0.0], 1)
    assert first_damage([Chain(5).add("a", beyond=True).answer()]).runs == 0


def test_medians_and_sums_of_delays_alarms_and_collapses() -> None:
    late = Chain(8).add("a", 0.9).add("b", 0.9).add("c", 0.9, "restart").repeat(5, "d{}")
    prompt = Chain(8).add("x", 0.9, "retry").repeat(8, "e{}")
    found = arms([("x", "a", "", late), ("x", "b", "", prompt), ("x", "c", "", no_gate(8, 2, "c"))])["x"]
    assert (found.delays, found.delay, found.never_detected) == ([0, 2], 1.0, 1)
    assert (found.collapse_turns, found.recovered) == ([2, 4], 1)
    assert (found.episodes.caught, found.episodes.propagated) == (1, 2)
    assert found.alarms.alarmed == 0
