"""What is told from rows alone: damaged or not, which images a run made; and what differs between two mappings."""

from __future__ import annotations

from typing import Any

import pytest

from turngate.component import Direction, differences
from turngate.traces.images import run_images, stored_files
from turngate.traces.progress import Progress, advance
from turngate.traces.records import AttemptRow, DecisionRow, is_damaged


@pytest.mark.parametrize(
    ("value", "better", "expected"),
    [
        (22.0, "higher", True), (22.1, "higher", False), (22.0, "lower", True), (21.9, "lower", False),
        (None, "higher", None), (None, "lower", None),
    ],
)  # fmt: skip
def test_a_value_at_the_threshold_is_damaged(value: float | None, better: Direction, expected: bool | None) -> None:
    assert is_damaged(value, 22.0, better) is expected


def attempt(turn: int, **fields: Any) -> AttemptRow:
    return AttemptRow(
        turn=turn, attempt=1, seed=0, instruction="", history="previous", input_image="o", input_turn=0,
        outcome="edited", started_ns=0, ended_ns=1, **fields,
    )  # fmt: skip


def decision(turn: int, image: str, image_turn: int) -> DecisionRow:
    return DecisionRow(
        turn=turn, attempt=1, verdict="accept", rule="gate", reason="", action="accept", taken_attempt=1,
        image_after=image, image_turn_after=image_turn, closes_turn=True, status_after="running", at_ns=1,
    )  # fmt: skip


def test_a_run_made_its_candidates_and_stored_all_that_came_along() -> None:
    rows = [attempt(1, image="c1", extras=[{"image": "e", "role": "interim"}], content="answer"), attempt(2)]
    assert run_images("o", [(row, None) for row in rows]) == {(0, 0, "origin"): "o", (1, 1, "candidate"): "c1"}
    assert [stored_files(row) for row in rows] == [["c1", "e", "answer"], []]


def test_the_first_accepted_image_is_the_candidate_itself_where_there_is_none() -> None:
    start = Progress.start("o")
    after = advance(advance(start, decision(1, "c1", 1)), decision(2, "c2", 2))
    assert (start.first("c1"), start.history) == ("c1", ())
    assert (after.first("c3"), after.history) == ("c1", ("c1", "c2"))
    assert advance(after, decision(3, "c1", 1)).history == ("c1",), "a rollback shortens the lineage"


def test_differences_go_into_mappings() -> None:
    old = {"seed": 1, "gate": {"type": "threshold", "at": 1}, "gone": 0}
    new = {"seed": 1, "gate": {"type": "relative", "margin": 2}, "new": None}
    changes = [
        ("gate.type", "threshold", "relative"),
        ("gate.at", 1, None),
        ("gate.margin", None, 2),
        ("gone", 0, None),
    ]
    assert differences(old, new) == changes
    assert differences(old, new, whole_components=True)[0] == ("gate", old["gate"], new["gate"])
