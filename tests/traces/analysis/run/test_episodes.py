"""Damage episodes, false alarms and delays: failures once per input."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.traces.analysis.run.test_turns import chains
from tests.traces.analysis.worlds import Chain, no_gate, rolls_back, stalls

from turngate.traces.analysis.run import DamageEpisode, damage_episodes, false_alarms, turn_results


def episodes(chain: Chain, going_on: bool = False) -> list[DamageEpisode]:
    stretch = chain.stretch(going_on)
    return damage_episodes(stretch, turn_results(stretch))


def ends(chain: Chain, going_on: bool = False) -> list[str]:
    return [one.end for one in episodes(chain, going_on)]


def alarms(chain: Chain) -> tuple[int, int]:
    found = false_alarms(chain.views())
    return found.alarmed, found.inputs


def test_a_stall_is_one_episode_however_often_the_candidate_is_refused() -> None:
    [one] = episodes(stalls(100, sound=3))
    assert (one.end, one.turn, one.input_image, one.input_turn, one.candidates) == ("stalled", 4, "origin-3", 3, 97)
    assert (one.detected, one.delay) == (4, 0)


def test_no_gate_propagates_once_and_then_inherits() -> None:
    [one] = episodes(no_gate(10, sound=3))
    assert (one.end, one.turn, one.candidates, one.detected, one.delay) == ("propagated", 4, 1, None, None)


def test_a_loop_that_goes_back_catches_each_episode() -> None:
    assert ends(rolls_back(13, sound=3)) == ["caught"] * 3


def test_a_rollback_at_the_end_is_caught_for_another_image_stands() -> None:
    """Turn 4 refuses and goes back from image 3 to image 2: that is another image, at the horizon or not."""
    assert ends(rolls_back(4, sound=3)) == ["caught"]


def test_a_retry_that_succeeds_is_caught_within_the_turn() -> None:
    [one] = episodes(Chain(2).add("x", 0.9, "retry").add("y", 0.9, "retry").add("a").add("b"))
    assert (one.end, one.candidates, one.detected, one.delay) == ("caught", 2, 1, 0)


def test_what_is_refused_and_then_taken_from_the_same_input_is_propagated() -> None:
    [one] = episodes(Chain(3).add("x", 0.9, "skip").add("y", 0.9, "skip").add("z", 0.9))
    assert (one.end, one.candidates, one.delay) == ("propagated", 3, 0)


def test_a_forced_accept_and_a_kept_best_propagate() -> None:
    forced = Chain(2).add("x", 0.9, "retry").add("y", 0.9, "force_accept")
    kept = Chain(2).add("x", 0.9, "retry").add("y", 0.9, "keep_best", taken=1)
    saved = Chain(2).add("x", 0.1, "retry").add("y", 0.9, "keep_best", taken=1)
    assert [ends(one) for one in (forced, kept, saved)] == [["propagated"], ["propagated"], ["caught"]]


def test_an_image_that_comes_back_is_the_same_input() -> None:
    """a, refused, back to the origin, a again, refused, ...: one input whose candidates are damaged, one episode."""
    chain = Chain(12)
    for _ in range(6):
        chain.add("a").add("x", 0.9, "rollback")
    [one] = episodes(chain)
    assert (one.end, one.candidates, one.turn, one.delay) == ("caught", 6, 2, 0)


def test_a_restart_at_the_origin_moves_nothing_and_stalls() -> None:
    assert ends(Chain(5).repeat(5, "x", 0.9, "restart")) == ["stalled"]


def test_damage_made_of_damage_begins_no_episode() -> None:
    chain = Chain(4).add("a", 0.9).add("b", 0.9, "skip").add("c", 0.9).add("d", 0.9)
    [one] = episodes(chain)
    assert (one.end, one.candidates, one.detected, one.delay) == ("propagated", 1, 2, 1)


def test_the_delay_counts_to_the_first_turn_that_refused_all_damage() -> None:
    """Damaged from turn 2 on, refused for the first time at turn 5: three turns late."""
    chain = Chain(8).add("a").add("b", 0.9).add("c", 0.9).add("d", 0.9).add("e", 0.9, "rollback", back=4).add("f")
    [one] = episodes(chain)
    assert (one.turn, one.detected, one.delay) == (2, 5, 3)


def test_a_later_episode_is_not_the_detection_of_an_earlier_one() -> None:
    chain = Chain(5).add("a", 0.9).add("b", 0.1).add("x", 0.9, "skip").add("c").add("d")
    first, second = episodes(chain)
    assert (first.end, first.detected) == ("propagated", None)
    assert (second.end, second.turn, second.delay) == ("caught", 3, 0)


def test_an_early_stop_stalls_what_it_refused() -> None:
    assert ends(Chain(100).add("a").add("x", 0.9, "stop")) == ["stalled"]
    assert ends(Chain(100).add("a").add("x", 0.9).add("y", 0.9, "stop")) == ["propagated"]


def test_refusals_of_an_open_turn_belong_to_the_episode() -> None:
    [one] = episodes(Chain(10).add("a").add("x", 0.9, "retry").add("y", 0.9, "retry"))
    assert (one.end, one.candidates) == ("stalled", 2)


def test_a_run_at_work_has_open_episodes() -> None:
    chain = Chain(10).add("a").add("x", 0.9, "skip").add("y", 0.9, "retry")
    assert ends(chain, going_on=True) == ["open"]
    assert ends(chain.add("b"), going_on=True) == ["caught"]


def test_what_comes_after_a_divergence_ends_no_episode() -> None:
    refused = Chain(6).add("a").add("x", 0.9, "skip")
    assert ends(refused) == ["stalled"]
    refused.add("b", beyond=True).add("c", 0.9, beyond=True)
    assert ends(refused) == ["open"], "that another image came to stand is only in the record"
    before = Chain(6).add("x", 0.9, "skip").add("a").add("y", 0.0, "skip").add("b", 0.9, beyond=True)
    assert ends(before) == ["caught"], "it had ended already; what is damaged beyond begins none"


def test_a_masked_accept_counts_by_what_stands() -> None:
    saved = Chain(2).add("x", 0.9, composite=("x+", 0.1)).add("b")
    assert ends(saved) == ["caught"]
    assert episodes(saved)[0].delay == 0
    spoilt = Chain(2).add("x", 0.0, composite=("x+", 0.9)).add("b", 0.9)
    assert ends(spoilt) == ["propagated"]


def test_no_change_and_unknown_truth_begin_no_episode() -> None:
    assert ends(Chain(4).add("origin", 0.0).add(None, None, "skip").add("a", None).add("b", 0.9)) == []


def test_with_history_origin_there_is_one_input() -> None:
    held = (
        Chain(5, history="origin").add("a").add("x", 0.9, "skip").add("y", 0.9, "skip").add("b").add("z", 0.9, "skip")
    )
    [one] = episodes(held)
    assert (one.end, one.candidates, one.input_image) == ("caught", 3, "origin")
    assert ends(Chain(3, history="origin").add("a").add("b", 0.9).add("c", 0.9)) == ["propagated"]


def test_an_input_with_refused_sound_candidates_is_one_false_alarm() -> None:
    chain = Chain(10).add("a").repeat(5, "s{}", 0.0, "skip").add("b").add("c")
    assert alarms(chain) == (1, 3), "the origin and b made sound candidates that were taken, a made refused ones"
    assert alarms(Chain(3).add("x", 0.9, "skip").add(None, None, "skip").add("origin", 0.0, "skip")) == (0, 0)


def test_what_is_taken_all_the_same_is_no_false_alarm() -> None:
    assert alarms(Chain(1).add("a", 0.0, "force_accept")) == (0, 1)
    assert alarms(Chain(1).add("a", 0.0, "retry").add("b", 0.9, "keep_best", taken=1)) == (0, 1)
    assert alarms(Chain(1).add("a", 0.0, "retry").add("b", 0.0, "keep_best", taken=1)) == (1, 1)
    assert alarms(Chain(1).add("a", 0.0, composite=("a+", 0.9))) == (0, 1)


def test_alarms_beyond_a_divergence_do_not_count() -> None:
    assert alarms(Chain(3).add("a").add("b", 0.0, "skip", beyond=True)) == (0, 1)


@given(chains())
def test_the_end_of_an_episode_fits_the_turns(chain: Chain) -> None:
    stretch = chain.stretch()
    results = turn_results(stretch)
    found = damage_episodes(stretch, results)
    assert len({one.input_image for one in found}) == len(found)
    fresh = sum(one.source == "fresh" for one in results)
    assert sum(one.end == "propagated" for one in found) <= fresh
    for one in found:
        assert one.detected is None or one.detected >= one.turn
        if one.end == "stalled":
            assert results[-1].image == results[max(one.turn - 1, 1) - 1].image or one.turn == 1
            assert not any(result.new for result in results[one.turn - 1 :])
            assert results[-1].damaged is False or stretch.attempts[0].row.history == "origin"


@given(chains(), st.data())
def test_repeating_a_refused_candidate_changes_no_count(chain: Chain, data: st.DataObject) -> None:
    """One more turn that refuses a candidate refused before, from the same input."""
    refused = [one for one in chain.views() if one.decision.verdict == "reject" and not one.taken]
    again = [one for one in refused if one.row.input_image == chain.attempts[-1].decision.image_after]
    if not again or chain.progress.status != "running" or chain.attempts[-1].decision.action == "retry":
        return
    if any(one.row.beyond_divergence for one in again) or again[0].row.history == "origin":
        return
    chain.planned = max(chain.planned, chain.progress.turn)
    before = ends(chain), alarms(chain)
    row = data.draw(st.sampled_from(again)).row
    truth = next(one.truth for one in again if one.row is row)
    chain.add(row.image, truth.value if truth else None, "skip")
    chain.planned = max(chain.planned, chain.progress.turn - 1)
    assert (ends(chain), alarms(chain)) == before
