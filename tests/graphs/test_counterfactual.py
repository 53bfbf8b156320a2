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

GRAYS = [0.2, 0.9, 0.3, 0.6, 0.95, 0.4]
COUNT = itertools.count()


def config(gate: dict[str, Any] | str, **fields: Any) -> RunConfig:
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
    assert found.diverged == "turn 2, attempt 2 is owed, and was never made"


def test_a_laxer_gate_does_not_need_the_retries_of_the_record(record: Callable[[RunConfig], Path]) -> None:
    found = redecide(record(config(at(0.7), on_reject={"attempts": 2})), config("always_accept"))
    assert actions(found) == ["accept", "accept"]
    assert found.diverged == "turn 3, attempt 1 is owed, and was never made"


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
