"""The numbers of a run, in worlds whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.analysis.run.test_turns import chains
from tests.traces.analysis.worlds import Chain, no_gate, rolls_back, stalls

from turngate.component import Direction
from turngate.traces.analysis.run import (
    AttemptView,
    RunView,
    TurnResult,
    answer_run,
    seen_by,
    stall_window,
    stretch_of,
    summarise,
    truth_direction,
    turn_results,
    with_threshold,
)
from turngate.traces.recorded import RecordedFacts
from turngate.traces.records import CompositeRow, TruthRow


def test_a_gate_that_stalls() -> None:
    found = stalls(100, sound=3).answer()
    assert (found.progress, found.exposure, found.last_new_turn, found.stalled_since) == (3.0, 0.0, 3, 3)
    assert (found.turns.progressed, found.turns.held_sound) == (3, 97)
    assert (found.episodes.caught, found.episodes.stalled, found.episodes.propagated) == (0, 1, 0)
    assert (found.alarms.alarmed, found.alarms.inputs, found.delays, found.never_detected) == (0, 3, [0], 0)
    assert (found.first_damage_turn, found.collapse_turn) == (None, None)


def test_no_gate_propagates() -> None:
    found = no_gate(100, sound=4).answer()
    assert (found.progress, found.exposure, found.stalled_since) == (4.0, 0.96, None)
    assert (found.turns.propagated_fresh, found.turns.propagated_inherited, found.exposed_turns) == (1, 95, 96)
    assert (found.episodes.propagated, found.never_detected, found.delays) == (1, 1, [])
    assert (found.first_damage_turn, found.last_damage_turn, found.collapse_turn, found.recovered_turn) == (
        5, 100, 6, None,
    )  # fmt: skip


def test_a_loop_that_goes_back_keeps_working() -> None:
    found = rolls_back(100, sound=3).answer()
    assert (found.progress, found.exposure, found.stalled_since, found.different) == (75.0, 0.0, None, 75)
    assert (found.turns.went_back_sound, found.episodes.caught, found.episodes.total) == (25, 25, 25)


def test_doing_nothing_is_a_stall_without_progress() -> None:
    found = Chain(30).repeat(30, "x", 0.0, "skip").answer()
    assert (found.progress, found.exposure, found.stalled_since, found.episodes.total) == (0.0, 0.0, 0, 0)
    assert (found.alarms.alarmed, found.alarms.inputs) == (1, 1), "one input, refused thirty times"


def test_a_frozen_ruin_is_exposed_to_the_end_whether_it_runs_or_stops() -> None:
    frozen = Chain(20).add("a", 0.9).repeat(19, "x", 0.9, "skip").answer()
    stopped = Chain(20).add("a", 0.9).add("x", 0.9, "stop").answer()
    assert frozen.exposure == stopped.exposure == 1.0
    assert frozen.progress == stopped.progress == 0.0
    assert frozen.stalled_since == stopped.stalled_since == 1
    assert (frozen.ended_at, stopped.ended_at, stopped.turns.not_reached) == (None, 2, 18)


def test_stopping_early_costs_progress_not_exposure() -> None:
    found = Chain(20).repeat(5, "a{}").add("x", 0.9, "stop").answer()
    assert (found.progress, found.exposure, found.turns.not_reached, found.calls) == (25.0, 0.0, 14, 6)
    assert found.progress_per_100_calls == pytest.approx(100 * 5 / 6)


def test_a_budget_of_four_attempts_that_ends_within_a_turn() -> None:
    chain = Chain(10).add("a").add("x", 0.9, "retry").add("y", 0.9, "retry").add("z", 0.9, "retry")
    found = chain.answer()
    assert (found.calls, found.planned, found.progress, found.turns.not_reached) == (4, 10, 10.0, 9)
    assert (found.episodes.stalled, found.stalled_since) == (1, None), (
        "one new image within ten turns is no stalled run"
    )
    assert found.progress_per_100_calls == 25.0


def test_the_stall_window_is_a_fifth_of_the_turns_and_at_least_ten() -> None:
    assert [stall_window(planned) for planned in (0, 5, 10, 30, 50, 51, 100)] == [0, 5, 10, 10, 10, 11, 20]
    at_eighty, at_eighty_one = (
        Chain(100).repeat(new, "a{}").repeat(100 - new, "x", 0.9, "skip").answer() for new in (80, 81)
    )
    assert (at_eighty.stalled_since, at_eighty_one.stalled_since) == (80, None)
    assert Chain(4).add("a").repeat(3, "x", 0.9, "skip").answer().stalled_since is None


def test_equal_calls_hold_retries_against_one_call_a_turn() -> None:
    """Three calls a turn: at ten calls it has closed three turns, and the fourth is open."""
    chain = Chain(10)
    for turn in range(1, 11):
        chain.add(f"x{turn}", 0.9, "retry").add(f"y{turn}", 0.9, "retry").add(f"a{turn}", 0.0 if turn < 3 else 0.9)
    found = chain.answer()
    assert (found.progress, found.calls, found.equal_calls.calls) == (20.0, 30, 10)
    assert found.equal_calls.progress == 20.0
    assert found.equal_calls.exposure == pytest.approx(2 / 10), "calls 9 and 10 stand on the image of turn 3"
    assert found.progress_per_100_calls == pytest.approx(100 * 2 / 30)


def test_with_one_call_a_turn_equal_calls_are_equal_turns() -> None:
    for chain in (no_gate(12, 4), stalls(12, 3), rolls_back(12, 2), Chain(12).add("a", 0.9).add("x", 0.9, "stop")):
        found = chain.answer()
        assert (found.equal_calls.progress, found.equal_calls.exposure) == (found.progress, found.exposure)


def test_forced_images_are_told() -> None:
    found = Chain(4).add("a").add("b", 0.9, "force_accept").add("c", 0.9, "force_accept").add("d").answer()
    assert (found.new_images, found.forced, found.progress, found.exposure) == (4, 2, 50.0, 0.5)
    assert (found.collapse_turn, found.recovered_turn) == (3, 4)


def test_a_collapse_needs_two_turns_in_a_row() -> None:
    found = Chain(5).add("a", 0.9).add("x", 0.9, "restart").add("b", 0.9).add("x", 0.9, "restart").add("c").answer()
    assert (found.exposed_turns, found.first_damage_turn, found.last_damage_turn, found.collapse_turn) == (
        2,
        1,
        3,
        None,
    )


def test_unknown_turns_are_in_no_rate() -> None:
    found = Chain(5).add("a").add("b", None).add("x", 0.9, "skip").add("c").add("d", 0.9).answer()
    assert found.turns.unknown == 2
    assert found.progress == pytest.approx(200 / 3)
    assert found.exposure == pytest.approx(1 / 3)
    assert found.progress_per_100_calls == pytest.approx(200 / 3)
    assert found.equal_calls.progress == pytest.approx(200 / 3)


def test_without_a_truth_nothing_is_rated() -> None:
    found = Chain(20, measured=False).add("a").repeat(19, "x", 0.9, "skip").answer()
    assert (found.known, found.progress, found.exposure, found.equal_calls.progress) == (False, None, None, None)
    assert (found.new_images, found.stalled_since, found.episodes.total) == (1, 1, 0)


def test_a_run_in_which_no_image_came_is_known_by_its_origin() -> None:
    found = Chain(10).repeat(10, None, None, "skip").answer()
    assert (found.known, found.progress, found.exposure, found.stalled_since) == (True, 0.0, 0.0, 0)


def test_a_run_at_work_is_told_so_far() -> None:
    found = Chain(100).add("a").repeat(30, "x", 0.9, "skip").add("y", 0.9, "retry").answer(going_on=True)
    assert (found.planned, found.calls, found.stalled_since, found.episodes.open) == (31, 32, None, 1)
    assert found.progress == pytest.approx(100 / 31)
    assert (found.never_detected, found.turns.not_reached) == (0, 0)


def test_beyond_a_divergence_nothing_is_told() -> None:
    chain = Chain(30).add("a").add("x", 0.9, "skip").repeat(2, "a", 0.0, "skip")
    for turn in range(5, 31):
        chain.add(f"b{turn}", 0.9, beyond=True)
    found = chain.answer()
    assert (found.diverged_turn, found.told_turns, found.turns.unknown) == (5, 4, 26)
    assert (found.progress, found.exposure, found.stalled_since) == (25.0, 0.0, None)
    assert (found.new_images, found.last_new_turn, found.first_damage_turn) == (1, 1, None)
    assert (found.equal_calls.progress, found.equal_calls.exposure) == (25.0, 0.0)


def test_a_run_that_ended_beyond_a_divergence_did_not_stall() -> None:
    found = Chain(30).add("x", 0.9, "skip").add("y", 0.9, "stop", beyond=True).answer()
    assert (found.stalled_since, found.episodes.open, found.ended_at) == (None, 1, None)
    assert (found.equal_calls.calls, found.equal_calls.progress) == (30, 0.0)


def test_a_run_that_diverged_at_once_tells_nothing() -> None:
    found = Chain(5).repeat(0, "a").add("a", beyond=True).answer()
    assert (found.known, found.progress, found.turns.unknown) == (False, None, 5)


def test_labels_without_a_verdict_on_the_origin_count_it_as_sound() -> None:
    stretch = replace(stalls(20, sound=1).stretch(), baseline=None)
    view = replace(Chain(20).add("x", 0.9, "skip").view(), baseline_truth=None)
    assert stretch.known
    assert (answer_run(view).exposure, answer_run(view).episodes.stalled) == (0.0, 1)
    assert summarise(view).final_damaged is False
    assert summarise(Chain(5, measured=False).add("a").view()).final_damaged is None


def test_a_negative_cost_is_no_trouble_and_costs_are_per_progressed_turn() -> None:
    """Nothing forbids a refund in a ledger; what is not known is no zero."""
    found = summarise(Chain(3).add("a", cost=0.3).add("b", cost=-0.1).add("c", 0.9).view())
    assert found.cost_usd == pytest.approx(0.2)
    assert found.usd_per_progressed_turn == pytest.approx(0.1)
    assert summarise(Chain(1).add("a", 0.9, cost=1.0).view()).usd_per_progressed_turn is None


def test_a_threshold_is_taken_anew_for_candidates_and_composites() -> None:
    chain = Chain(3).add("a", 0.3).add("b", 0.4, composite=("b+", 0.2)).add("c", 0.2, composite=("c+", 0.6))
    assert answer_run(chain.view()).turns.propagated == 1
    strict, mild = with_threshold(chain.view(), 0.3), with_threshold(chain.view(), 0.7)
    assert [one.result for one in _turns(strict)] == ["propagated", "progressed", "propagated"]
    assert [one.result for one in _turns(mild)] == ["progressed"] * 3
    both = [(one.made, one.composite) for one in strict.attempts if one.made is not None]
    assert all(made == composite for made, composite in both)
    assert answer_run(strict).episodes.total == 2, "a candidate from the origin, and the composite of turn 3"


def test_another_truth_leads_in_candidates_and_composites() -> None:
    chain = Chain(2).add("a", 0.0, more_truths={"people": 0.9}).add("b", 0.9, more_truths={"people": 0.1})
    view = chain.view()
    by_people = seen_by(view, "people")
    assert [one.result for one in _turns(view)] == ["progressed", "propagated"]
    assert [one.result for one in _turns(by_people)] == ["propagated", "progressed"]
    assert seen_by(by_people, "truth").attempts == view.attempts
    with pytest.raises(KeyError, match="people"):
        seen_by(view, "nobody")


@given(chains(), st.booleans())
def test_turns_rates_and_calls_add_up(chain: Chain, going_on: bool) -> None:
    found = chain.answer(going_on)
    counts = found.turns
    assert sum(counts.model_dump().values()) == found.planned
    told = found.planned - counts.unknown
    if found.progress is not None:
        assert found.progress == pytest.approx(100 * counts.progressed / told)
        assert counts.progressed + counts.propagated == found.new_images - _unknown_new(chain, going_on)
    if found.exposure is not None:
        assert 0 <= found.exposure <= 1
    assert found.episodes.total + found.episodes.open >= len(found.delays)
    assert found.calls == len(chain.attempts)
    assert (found.stalled_since is None) or found.stalled_since == found.last_new_turn


def _unknown_new(chain: Chain, going_on: bool) -> int:
    return sum(one.new and one.result == "unknown" for one in turn_results(chain.stretch(going_on)))


@given(chains())
def test_turning_a_truth_and_its_threshold_around_changes_nothing(chain: Chain) -> None:
    """Damage from 0.5 up, or quality from -0.5 down: the same candidates are damaged."""
    view = chain.view()
    around = _reflected(view)
    assert (truth_direction(view), truth_direction(around)) == ("lower", "higher")
    assert answer_run(around) == answer_run(view)
    for at in (0.3, 0.9):
        assert answer_run(with_threshold(around, -at)) == answer_run(with_threshold(view, at))


def _reflected(view: RunView) -> RunView:
    def turned(row: TruthRow | None) -> TruthRow | None:
        if row is None or row.value is None:
            return row
        return row.model_copy(update={"value": -row.value, "damaged_at": -row.damaged_at})

    def composed(row: CompositeRow | None) -> CompositeRow | None:
        return None if row is None else row.model_copy(update={"truth": turned(row.truth)})

    def attempt(one: AttemptView) -> AttemptView:
        made, composite = composed(one.made), composed(one.composite)
        return replace(one, truth=turned(one.truth), made=made, composite=composite)

    way: Direction = "higher"
    resolved = view.info.resolved.model_copy(update={"truth": RecordedFacts(name="m", direction=way)})
    info = view.info.model_copy(update={"resolved": resolved})
    attempts = [attempt(one) for one in view.attempts]
    return replace(view, info=info, attempts=attempts, baseline_truth=turned(view.baseline_truth))


def _turns(view: RunView) -> list[TurnResult]:
    return turn_results(stretch_of(view))
