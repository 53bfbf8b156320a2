"""What follows from a decision: every policy, and laws that hold for all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.agent.gate import Decision, Reading
from turngate.agent.rejection import Rejection, Tried, best_of
from turngate.graphs.decision import RuledDecision, next_action
from turngate.traces.progress import Progress, advance, fold
from turngate.traces.records import AttemptRow, DecisionRow

ORIGIN = "0" * 64
ACCEPT = RuledDecision(Decision("accept", "good"), "gate")
REJECT = RuledDecision(Decision("reject", "bad"), "gate")


def attempt(turn: int = 1, number: int = 1, image: str | None = "c" * 64, **changed: Any) -> AttemptRow:
    outcome = "edited" if image else "no_image"
    values: dict[str, Any] = {"turn": turn, "attempt": number, "seed": 1, "instruction": "", "history": "previous"}
    values |= {"input_image": ORIGIN, "input_turn": 0, "outcome": outcome, "image": image}
    return AttemptRow(**{**values, "started_ns": 0, "ended_ns": 0, **changed})


def tried(number: int, value: float, image: str) -> Tried:
    return Tried(number, image, {"q": Reading("q", value, "lower")})


def decide(
    ruled: RuledDecision,
    progress: Progress,
    row: AttemptRow,
    policy: Rejection,
    candidates: list[Tried] | None = None,
    turns: int = 10,
) -> DecisionRow:
    made = next_action(ruled, progress, row, candidates or [], policy, ORIGIN, turns, 0)
    assert made is not None
    return made


def test_accept_makes_the_candidate_the_current_image() -> None:
    row = decide(ACCEPT, Progress.start(ORIGIN), attempt(), Rejection())
    assert (row.action, row.image_after, row.image_turn_after, row.closes_turn) == ("accept", "c" * 64, 1, True)
    after = advance(Progress.start(ORIGIN), row)
    assert (after.turn, after.attempt, after.lineage) == (2, 1, ((1, "c" * 64),))


def test_reject_retries_until_the_attempts_are_used_up() -> None:
    policy, progress = Rejection(attempts=3, then="skip"), Progress.start(ORIGIN)
    actions = []
    for number in (1, 2, 3):
        row = decide(REJECT, progress, attempt(number=number), policy)
        actions.append((row.action, row.closes_turn))
        progress = advance(progress, row)
    assert actions == [("retry", False), ("retry", False), ("skip", True)]
    assert (progress.turn, progress.image) == (2, ORIGIN)


@pytest.mark.parametrize(
    ("then", "action", "image", "status"),
    [
        ("skip", "skip", "b" * 64, "running"),
        ("accept", "force_accept", "c" * 64, "running"),
        ("keep_best", "keep_best", "d" * 64, "running"),
        ("rollback", "rollback", "a" * 64, "running"),
        ("restart", "restart", ORIGIN, "running"),
        ("stop", "stop", "b" * 64, "attempts_exhausted"),
    ],
)
def test_endings(then: Any, action: str, image: str, status: str) -> None:
    progress = Progress(3, 2, "b" * 64, 2, ((1, "a" * 64), (2, "b" * 64)))
    candidates = [tried(1, 4.0, "d" * 64), tried(2, 5.0, "c" * 64)]
    policy = Rejection(attempts=2, then=then, best_by="q")
    row = decide(REJECT, progress, attempt(3, 2), policy, candidates)
    assert (row.action, row.image_after, row.status_after) == (action, image, status)
    assert row.verdict == "reject"


def test_rollback_further_than_the_lineage_ends_at_the_origin() -> None:
    progress = Progress(3, 1, "b" * 64, 2, ((1, "a" * 64), (2, "b" * 64)))
    row = decide(REJECT, progress, attempt(3), Rejection(then="rollback", rollback_turns=9))
    assert (row.image_after, row.image_turn_after) == (ORIGIN, 0)
    assert advance(progress, row).lineage == ()


def test_an_image_that_cannot_come_is_not_asked_for_again() -> None:
    blocked = attempt(image=None, retryable=False, why="blocked_prompt")
    row = decide(REJECT, Progress.start(ORIGIN), blocked, Rejection(attempts=5, then="skip"))
    assert row.action == "skip"


@pytest.mark.parametrize("then", ["accept", "keep_best"])
def test_nothing_is_forced_where_there_is_no_candidate(then: Any) -> None:
    policy = Rejection(then=then, best_by="q")
    row = decide(REJECT, Progress.start(ORIGIN), attempt(image=None), policy)
    assert (row.action, row.taken_attempt, row.image_after) == ("skip", None, ORIGIN)


def test_an_unchanged_image_does_not_become_a_new_one() -> None:
    progress = Progress(2, 1, "a" * 64, 1, ((1, "a" * 64),))
    row = decide(ACCEPT, progress, attempt(2, image="a" * 64, outcome="no_change"), Rejection())
    assert (row.image_turn_after, advance(progress, row).lineage) == (1, ((1, "a" * 64),))


def test_a_person_is_asked_once() -> None:
    policy = Rejection(then="ask_human")
    assert next_action(REJECT, Progress.start(ORIGIN), attempt(), [], policy, ORIGIN, 10, 0) is None
    said = RuledDecision(Decision("reject", "a person said reject"), "human", human=True)
    assert decide(said, Progress.start(ORIGIN), attempt(), policy).action == "skip"


def test_the_last_turn_completes_the_run() -> None:
    row = decide(ACCEPT, Progress.start(ORIGIN), attempt(), Rejection(), turns=1)
    assert row.status_after == "complete"


def test_best_prefers_the_better_direction_and_the_earlier_on_a_tie() -> None:
    candidates = [tried(1, -2.0, "a"), tried(2, -9.8, "b"), tried(3, -9.8, "c")]
    best = best_of(candidates, "q")
    assert best is not None and best.attempt == 2
    assert best_of(candidates, "other") is None


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(["skip", "accept", "rollback", "restart"])), max_size=40),
    st.integers(1, 4),
)
def test_laws_of_the_fold(choices: list[tuple[bool, Any]], attempts: int) -> None:
    """Turns never go back, the current image is the end of the lineage, and a fold of a prefix is the live position."""
    progress = Progress.start(ORIGIN)
    rows: list[DecisionRow] = []
    live = [progress]
    for index, (accept, then) in enumerate(choices):
        image = f"{index:064x}"[::-1]
        row = attempt(progress.turn, progress.attempt, image, input_image=progress.image)
        policy = Rejection(attempts=attempts, then=then)
        candidates = [Tried(progress.attempt, image, {})]
        made = decide(ACCEPT if accept else REJECT, progress, row, policy, candidates, turns=1000)
        before, progress = progress, advance(progress, made)
        rows.append(made)
        live.append(progress)
        assert (progress.turn, progress.attempt) > (before.turn, before.attempt)
        assert progress.attempt <= attempts
        assert progress.image == (progress.lineage[-1][1] if progress.lineage else ORIGIN)
        assert progress.image_turn == (progress.lineage[-1][0] if progress.lineage else 0)
        assert [turn for turn, _ in progress.lineage] == sorted({turn for turn, _ in progress.lineage})
    for length, expected in enumerate(live):
        assert fold(ORIGIN, rows[:length]) == expected
