"""Recorded candidates decided again: what the record covers, and where it ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turngate import RunView, parse_config, start_run
from turngate.errors import ConfigError
from turngate.graphs.config import RunConfig
from turngate.graphs.replay import Counterfactual, redecide
from turngate.traces.records import AttemptRecord

from . import stamp

GRAYS = [0.2, 0.9, 0.3, 0.6, 0.95, 0.4]
COUNT = itertools.count()


def config(gate: dict[str, Any] | str = "always_accept", **fields: Any) -> RunConfig:
    raw: dict[str, Any] = {
        "origin": "skimage:astronaut", "scenario": "replicate", "turns": len(GRAYS), "driver": "loop",
        "editor": {"type": "scripted", "size": 16, "script": {str(n): gray for n, gray in enumerate(GRAYS, 1)}},
        "evaluators": {"gray": {"type": "scripted"}}, "gate": gate, "telemetry": {"exporter": "none"}, **fields,
    }  # fmt: skip
    return parse_config(raw, "test")


def at(threshold: float) -> dict[str, Any]:
    return {"type": "threshold", "evaluator": "gray", "at": threshold}


@pytest.fixture
def record(tmp_path: Path) -> Callable[[RunConfig], Path]:
    """A run of the configuration."""

    def do(recorded: RunConfig) -> Path:
        folder = tmp_path / str(next(COUNT))
        start_run(recorded, folder)
        return folder

    return do


def actions(found: Counterfactual) -> list[str]:
    return [step.decision.action for step in found.steps]


POLICIES = st.fixed_dictionaries(
    {
        "attempts": st.integers(1, 3),
        "then": st.sampled_from(["skip", "accept", "keep_best", "rollback", "restart", "stop"]),
    }
)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([0.1, 0.35, 0.7, 1.0]), POLICIES, st.sampled_from(["previous", "origin"]))
def test_the_recorded_gate_decides_as_it_did(
    record: Callable[[RunConfig], Path], threshold: float, policy: dict[str, Any], history: str
) -> None:
    recorded = config(at(threshold), on_reject={**policy, "best_by": "gray"}, history=history)
    folder = record(recorded)
    found = redecide(folder, recorded)
    rows = [attempt.decision.comparable() for attempt in RunView.load(folder).attempts]
    assert found.diverged is None
    assert not any(step.changed for step in found.steps)
    assert [step.decision.comparable() for step in found.steps] == rows


def test_a_stricter_gate_is_told_up_to_the_first_image_that_it_would_not_have_kept(
    record: Callable[[RunConfig], Path],
) -> None:
    found = redecide(record(config("always_accept")), config(at(0.7)))
    assert actions(found) == ["accept", "skip"]
    assert found.diverged == "turn 3 would edit the image of turn 1, and was recorded from another image"


def test_where_every_turn_edits_the_origin_the_whole_run_can_be_decided_again(
    record: Callable[[RunConfig], Path],
) -> None:
    folder = record(config("always_accept", history="origin"))
    found = redecide(folder, config(at(0.7), history="origin"))
    assert found.diverged is None
    assert actions(found) == ["accept", "skip", "accept", "accept", "skip", "accept"]


def test_a_retry_that_was_never_made_ends_the_record(record: Callable[[RunConfig], Path]) -> None:
    found = redecide(record(config("always_accept")), config(at(0.7), on_reject={"attempts": 2}))
    assert actions(found) == ["accept", "retry"]
    assert found.diverged == "turn 2, attempt 2 comes next, and was never made"


def test_a_laxer_gate_does_not_need_the_retries_of_the_record(record: Callable[[RunConfig], Path]) -> None:
    found = redecide(record(config(at(0.7), on_reject={"attempts": 2})), config("always_accept"))
    assert actions(found) == ["accept", "accept"]
    assert found.diverged == "turn 3, attempt 1 comes next, and was never made"


def test_another_evaluator_looks_at_the_stored_images(record: Callable[[RunConfig], Path]) -> None:
    folder = record(config("always_accept", history="origin"))
    evaluators = {"gray": {"type": "scripted"}, "light": {"type": "scripted", "direction": "higher"}}
    gate = {"type": "threshold", "evaluator": "light", "at": 0.7}
    found = redecide(folder, config(gate, history="origin", evaluators=evaluators))
    assert actions(found) == ["skip", "accept", "skip", "skip", "accept", "skip"]


def test_an_evaluator_that_nobody_has_is_an_error(record: Callable[[RunConfig], Path]) -> None:
    gate = {"type": "threshold", "evaluator": "niqe", "at": 4}
    with pytest.raises(ConfigError, match="add --with niqe"):
        redecide(record(config("always_accept")), config(gate))


def test_a_person_is_not_replayed(record: Callable[[RunConfig], Path]) -> None:
    found = redecide(record(config("always_accept")), config(at(0.7), on_reject={"then": "ask_human"}))
    assert (found.diverged, found.status) == ("turn 2, attempt 1 would wait for a person", "waiting")


def test_a_run_that_would_have_ended_earlier_ends_there(record: Callable[[RunConfig], Path]) -> None:
    found = redecide(record(config("always_accept")), config(at(0.7), on_reject={"then": "stop"}))
    assert (found.turns, found.status, found.diverged) == (2, "attempts_exhausted", None)


# The records that a fold over turns needs.


def places(records: list[AttemptRecord]) -> list[tuple[int, int, str]]:
    return [(one.attempt.turn, one.attempt.attempt, one.decision.action) for one in records]


def test_records_are_those_of_the_turns_that_the_record_closes(record: Callable[[RunConfig], Path]) -> None:
    lax = redecide(record(config(at(0.7), on_reject={"attempts": 2})), config("always_accept"))
    assert lax.turns == 2
    assert places(lax.records) == [(1, 1, "accept"), (2, 1, "accept")]
    assert places(lax.recorded) == [(1, 1, "accept"), (2, 1, "retry"), (2, 2, "skip")]
    strict = redecide(record(config("always_accept")), config(at(0.7), on_reject={"attempts": 2}))
    assert actions(strict) == ["accept", "retry"]
    assert strict.turns == 1, "turn 2 is open"
    assert places(strict.records) == places(strict.recorded) == [(1, 1, "accept")]


def test_records_are_what_a_run_would_have_recorded(record: Callable[[RunConfig], Path]) -> None:
    """Where every turn edits the origin: the other gate's own run of the same seed gives the same rows."""
    other = config(at(0.7), history="origin")
    found = redecide(record(config("always_accept", history="origin")), other)
    run = RunView.load(record(other)).attempts
    assert [one.decision.comparable() for one in found.records] == [one.decision.comparable() for one in run]
    assert [one.attempt.comparable() for one in found.records] == [one.row.comparable() for one in run]


def test_scores_of_an_added_evaluator_are_in_the_records(record: Callable[[RunConfig], Path]) -> None:
    folder = record(config("always_accept", history="origin"))
    evaluators = {"light": {"type": "scripted", "direction": "higher"}, "gray": {"type": "scripted"}}
    gate = {"type": "threshold", "evaluator": "light", "at": 0.7}
    found = redecide(folder, config(gate, history="origin", evaluators=evaluators))
    assert [score.evaluator for score in found.records[0].scores] == ["light", "gray"]
    assert [score.evaluator for score in found.recorded[0].scores] == ["gray"]


MASKED: dict[str, Any] = {
    "turns": 3, "origin": {"image": "skimage:astronaut", "size": 128}, "editor": {"type": f"{stamp.__name__}:Stamp"},
    "evaluators": {"psnr": "psnr"}, "truth": {"measure": "psnr", "damaged_at": 30},
}  # fmt: skip
TAKES_MASKED = {"gate": "always_reject", "on_reject": {"then": "accept_masked"}}


def masked_config(**fields: Any) -> RunConfig:
    return config(**{**MASKED, **fields})


def test_a_recorded_composite_is_taken_again(record: Callable[[RunConfig], Path]) -> None:
    folder = record(masked_config(**TAKES_MASKED))
    found = redecide(folder, masked_config(**TAKES_MASKED))
    assert (found.diverged, found.turns) == (None, 3)
    assert not any(step.changed for step in found.steps)
    assert all(one.composite and one.composite.truth for one in found.records)
    assert [one.composite for one in found.records] == [one.composite for one in found.recorded]


def test_a_candidate_that_is_not_taken_masked_has_no_composite(record: Callable[[RunConfig], Path]) -> None:
    folder = record(masked_config(**TAKES_MASKED))
    for gate, policy, action in (("always_accept", "skip", "accept"), ("always_reject", "skip", "skip")):
        found = redecide(folder, masked_config(gate=gate, on_reject={"then": policy}))
        (one,), (recorded,) = found.records, found.recorded
        assert one.decision.action == action
        assert found.steps[0].changed
        assert (one.composite, one.attempt.extras) == (None, [])
        assert recorded.composite is not None
        assert one.decision.image_after == (one.attempt.image if action == "accept" else one.attempt.input_image)
        assert "turn 2 would edit" in (found.diverged or "")


def test_a_composite_that_was_never_made_ends_the_record(record: Callable[[RunConfig], Path]) -> None:
    plain = record(masked_config(gate="always_accept"))
    found = redecide(plain, masked_config(**TAKES_MASKED))
    assert (found.turns, found.records) == (0, [])
    assert found.diverged == "a masked accept makes an image that was never edited"
    other = {"gate": "always_reject", "on_reject": {"then": "accept_masked", "masking": {"threshold": 40}}}
    found = redecide(record(masked_config(**TAKES_MASKED)), masked_config(**other))
    assert found.diverged == "a masked accept makes an image that was never edited", "another mask, another image"
    accepting = {"gate": "always_accept", "on_reject": {"then": "accept_masked"}}
    found = redecide(plain, masked_config(**accepting))
    assert (found.diverged, found.turns) == (None, 3), "nothing is forced, so nothing is masked"
