"""What each planned turn comes to, in worlds whose answer is known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.traces.analysis.worlds import Action, Chain, no_gate, rolls_back, stalls

from turngate.traces.analysis.run import TurnCounts, TurnResult, answer_stretch, stretch_of, turn_results

ACTIONS: list[Action] = ["accept", "retry", "skip", "force_accept", "rollback", "restart", "stop"]


def results(chain: Chain, going_on: bool = False) -> list[TurnResult]:
    return turn_results(chain.stretch(going_on))


def words(chain: Chain, going_on: bool = False) -> list[str]:
    """`result`, with what stands where it may be either: `held damaged`, `propagated fresh`."""
    found = []
    for one in results(chain, going_on):
        stands = "" if one.damaged is None else " damaged" if one.damaged else " sound"
        extra = f" {one.source}" if one.source else stands if one.result in ("held", "went_back", "not_reached") else ""
        found.append(one.result + extra)
    return found


def test_every_new_image_is_progress_or_propagated_damage_fresh_or_inherited() -> None:
    chain = Chain(5).add("a").add("b", 0.9).add("c", 0.95).add("d", 0.1).add("e", 0.9)
    assert words(chain) == ["progressed", "propagated fresh", "propagated inherited", "progressed", "propagated fresh"]


def test_a_refused_turn_holds_what_stands() -> None:
    chain = Chain(4).add("a").add("x", 0.9, "skip").add("b", 0.9).add("y", 0.0, "skip")
    assert words(chain) == ["progressed", "held sound", "propagated fresh", "held damaged"]


def test_retries_and_missing_images_make_one_turn_of_their_calls() -> None:
    chain = Chain(2).add("x", 0.9, "retry").add(None, None, "retry").add("a").add(None, None, "skip")
    assert words(chain) == ["progressed", "held sound"]
    assert [one.calls for one in results(chain)] == [3, 1]


def test_forced_candidates_stand_as_what_they_are() -> None:
    chain = Chain(3).add("a", 0.9, "force_accept").add("b", 0.1, "retry").add("c", 0.9, "keep_best", taken=1)
    assert words(chain) == ["propagated fresh", "progressed", "not_reached sound"]
    assert [one.forced for one in results(chain)] == [True, True, False]
    assert [one.image for one in results(chain)] == ["a", "b", "b"], "keep_best took the first of the turn"


def test_a_rollback_brings_back_the_image_and_its_truth() -> None:
    chain = Chain(5).add("a").add("b", 0.9).add("c", 0.9, "rollback").add("b2", 0.9).add("x", 0.9, "restart")
    assert words(chain) == ["progressed", "propagated fresh", "went_back sound", "propagated fresh", "went_back sound"]
    assert [(one.image, one.image_turn) for one in results(chain)] == [
        ("a", 1), ("b", 2), ("a", 1), ("b2", 4), ("origin", 0),
    ]  # fmt: skip


def test_a_rollback_may_end_at_a_damaged_image() -> None:
    chain = Chain(3).add("a", 0.9).add("b", 0.9).add("c", 0.9, "rollback")
    assert words(chain) == ["propagated fresh", "propagated inherited", "went_back damaged"]


def test_going_back_to_where_one_is_moves_nothing() -> None:
    assert words(Chain(2).add("x", 0.9, "restart").add("y", 0.9, "rollback")) == ["held sound", "held sound"]
    # a, b, then a again: two turns back the same bytes stand.
    chain = Chain(4).add("a").add("b").add("a").add("x", 0.9, "rollback", back=2)
    assert words(chain)[-1] == "held sound"


def test_an_image_that_comes_again_after_a_rollback_is_progress_again() -> None:
    chain = Chain(3).add("a").add("x", 0.9, "restart").add("a")
    assert words(chain) == ["progressed", "went_back sound", "progressed"]
    assert chain.answer().different == 1


def test_no_change_is_neither_progress_nor_catch_accepted_or_refused() -> None:
    chain = Chain(5).add("a").add("a").add("a", 0.0, "skip").add("b", 0.9).add("b", 0.9)
    assert words(chain) == ["progressed", "no_change", "no_change", "propagated fresh", "no_change"]
    assert [one.damaged for one in results(chain)] == [False, False, False, True, True]
    assert not any(one.new for one in results(chain)[1:3])


def test_no_change_beside_a_refused_edit_is_a_refusal() -> None:
    assert words(Chain(1).add("origin", 0.0, "retry").add("x", 0.9, "skip")) == ["held sound"]
    assert words(Chain(2).add("a").add("a", 0.0, "rollback")) == ["progressed", "went_back sound"]


def test_an_early_stop_leaves_turns_unreached_with_the_last_image() -> None:
    sound = Chain(5).add("a").add("x", 0.9, "stop")
    assert words(sound) == ["progressed", "held sound", *["not_reached sound"] * 3]
    ruined = Chain(5).add("a", 0.9).add("x", 0.9, "stop")
    assert words(ruined) == ["propagated fresh", "held damaged", *["not_reached damaged"] * 3]
    assert sum(one.damaged is True for one in results(ruined)) == 5


def test_a_turn_that_was_left_open_is_not_reached_and_its_calls_count() -> None:
    chain = Chain(3).add("a").add("x", 0.9, "retry").add("y", 0.9, "retry")
    assert words(chain) == ["progressed", "not_reached sound", "not_reached sound"]
    assert [one.calls for one in results(chain)] == [1, 2, 0]


def test_a_run_without_an_attempt_is_not_reached_at_all() -> None:
    assert words(Chain(3)) == ["not_reached sound"] * 3


def test_a_run_at_work_has_only_its_closed_turns() -> None:
    chain = Chain(10).add("a").add("b", 0.9, "skip").add("x", 0.9, "retry")
    assert words(chain, going_on=True) == ["progressed", "held sound"]


def test_an_image_of_unknown_truth_makes_unknown_turns_until_another_stands() -> None:
    chain = Chain(5).add("a", None).add("x", 0.9, "skip").add("b").add("c", None, "skip").add("d", 0.9)
    assert words(chain) == ["unknown", "unknown", "progressed", "held sound", "propagated fresh"]


def test_what_lies_beyond_a_divergence_is_unknown_reached_or_not() -> None:
    chain = Chain(5).add("a").add("x", 0.9, "skip").add("y", 0.0, beyond=True).add("z", 0.0, "stop", beyond=True)
    found = results(chain)
    assert [one.result for one in found] == ["progressed", "held", "unknown", "unknown", "unknown"]
    assert [one.damaged for one in found] == [False, False, None, None, None]
    assert not any(one.new for one in found[2:]), "nobody knows what would have come"


def test_a_chain_that_ends_before_a_retry_leaves_the_turn_unknown() -> None:
    chain = Chain(2).add("x", 0.9, "retry").add(None, None, "skip", beyond=True).add("z", 0.0, beyond=True)
    assert [one.result for one in results(chain)] == ["unknown", "unknown"]


def test_the_truth_of_a_masked_turn_is_the_composites() -> None:
    chain = Chain(2).add("a", 0.9, composite=("a+", 0.1)).add("b", 0.0, composite=("b+", 0.9))
    assert words(chain) == ["progressed", "propagated fresh"]
    assert [one.image for one in results(chain)] == ["a+", "b+"]


def test_with_history_origin_every_turn_edits_the_origin() -> None:
    chain = Chain(5, history="origin").add("a").add("b", 0.9).add("c", 0.9).add("x", 0.9, "skip").add("d")
    assert words(chain) == ["progressed", "propagated fresh", "propagated fresh", "held damaged", "progressed"]


def test_an_edit_of_the_origin_that_stands_already_is_no_new_image() -> None:
    chain = Chain(3, history="origin").add("a").add("a").add("origin")
    assert words(chain) == ["progressed", "held sound", "no_change"]
    assert chain.answer().new_images == 1


def test_a_damaged_origin_is_inherited() -> None:
    chain = Chain(3, origin_damage=0.9).add("x", 0.9, "skip").add("a", 0.9).add("b", 0.1)
    assert words(chain) == ["held damaged", "propagated inherited", "progressed"]


def test_the_first_turns_of_a_run_are_counted_as_if_no_more_were_planned() -> None:
    view = no_gate(10, sound=3).view()
    assert [one.result for one in turn_results(stretch_of(view, 4))] == ["progressed"] * 3 + ["propagated"]
    assert turn_results(stretch_of(view, 0)) == []
    stopped = Chain(10).add("a").add("x", 0.9, "stop").view()
    assert [one.result for one in turn_results(stretch_of(stopped, 3))] == ["progressed", "held", "not_reached"]


def test_a_run_at_work_that_has_the_turns_asked_for_is_whole() -> None:
    view = Chain(10).add("a").add("b").view(status="running")
    assert stretch_of(view).going_on
    assert not stretch_of(view, 2).going_on


def chains(planned: int = 12) -> st.SearchStrategy[Chain]:
    """Any chain: edits, repeats, retries, missing images, unknown truths, rollbacks, stops."""
    step = st.tuples(
        st.sampled_from(["a", "b", "c", "d", "e", "origin", None]),
        st.sampled_from(ACTIONS),
        st.booleans(),  # whether the last attempts lie beyond a divergence
    )

    @st.composite
    def build(draw: st.DrawFn) -> Chain:
        # An image is as damaged as its bytes say.
        damage = {name: draw(st.sampled_from([0.0, 0.9, None])) for name in "abcde"} | {"origin": 0.0}
        chain = Chain(planned, history=draw(st.sampled_from(["previous", "origin"])))
        beyond = False
        for image, action, diverges in draw(st.lists(step, max_size=25)):
            if chain.progress.turn > planned or chain.progress.status != "running":
                break
            beyond = beyond or (diverges and len(chain.attempts) > 8)
            if image is None and action in ("accept", "force_accept"):
                action = "skip"
            chain.add(image, damage[image] if image else None, action, beyond=beyond)
        return chain

    return build()


@given(chains(), st.booleans())
def test_every_turn_has_exactly_one_result(chain: Chain, going_on: bool) -> None:
    found = results(chain, going_on)
    closed = chain.stretch().closed
    assert [one.turn for one in found] == list(range(1, (closed if going_on else chain.planned) + 1))
    counts = TurnCounts.of(found)
    assert sum(counts.model_dump().values()) == len(found)
    calls = sum(one.calls for one in found)
    assert calls == len(chain.attempts) or going_on
    for one in found:
        assert (one.source is not None) == (one.result == "propagated")
        assert one.new >= (one.result in ("progressed", "propagated"))
        assert one.damaged is not None or one.result in ("unknown", "not_reached", "no_change")


@given(chains(), st.integers(0, 12))
def test_a_prefix_has_the_results_of_the_whole(chain: Chain, turns: int) -> None:
    view = chain.view()
    whole = turn_results(stretch_of(view))
    known = [one for one in whole[:turns] if not one.beyond]
    assert turn_results(stretch_of(view, turns))[: len(known)] == known


@given(chains(), st.integers(1, 12))
def test_more_turns_never_undo_what_a_prefix_counted(chain: Chain, turns: int) -> None:
    part, whole = (answer_stretch(stretch_of(chain.view(), number)) for number in (turns, None))
    assert part.exposed_turns <= whole.exposed_turns
    assert part.turns.progressed <= whole.turns.progressed
    assert part.last_new_turn <= whole.last_new_turn
    assert part.alarms.alarmed <= whole.alarms.alarmed
    if part.first_damage_turn is not None:
        assert whole.first_damage_turn == part.first_damage_turn


def test_the_worlds_are_what_they_say() -> None:
    assert words(no_gate(5, 2)) == ["progressed"] * 2 + ["propagated fresh"] + ["propagated inherited"] * 2
    assert words(stalls(5, 2)) == ["progressed"] * 2 + ["held sound"] * 3
    assert words(rolls_back(4, 3)) == ["progressed"] * 3 + ["went_back sound"]
