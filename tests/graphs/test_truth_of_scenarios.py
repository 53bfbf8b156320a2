"""Truth by reference where the ideal is not the origin itself: it follows the turns that led to the candidate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from turngate import RunView
from turngate.errors import ConfigError
from turngate.graphs.config import RunConfig
from turngate.graphs.runner import Ended

Config = Callable[..., RunConfig]
Run = Callable[..., tuple[Ended, RunView]]

PERFECT = {"type": "simulated", "severity": 0}
FIELDS: dict[str, Any] = {
    "origin": {"image": "skimage:coffee", "size": 64},
    "editor": PERFECT,
    "truth": {"measure": "psnr", "damaged_at": 40},
    "evaluators": {"gray": {"type": "scripted", "rule": "mean_gray"}},
}
EVERY_OTHER = {"type": "random", "accept_rate": 0.5}


def truths(view: RunView) -> dict[int, float | None]:
    """Truth of the last candidate of each turn."""
    ledger = view.folder.ledger()
    try:
        return {row.turn: row.value for row in ledger.truths() if row.turn > 0}
    finally:
        ledger.close()


@pytest.mark.parametrize("name", ["replicate", "denoise", "mirror_twice", "rotate_four_times"])
@pytest.mark.parametrize("driver", ["loop", "graph"])
def test_a_perfect_editor_is_perfect_at_every_turn(name: str, driver: str, config: Config, run: Run) -> None:
    _, view = run(config(**FIELDS, scenario=name, turns=9, driver=driver))
    assert set(truths(view).values()) == {80.0}


@pytest.mark.parametrize("name", ["mirror_twice", "rotate_four_times"])
def test_a_skipped_turn_is_not_in_the_ideal(name: str, config: Config, run: Run) -> None:
    """The next instruction is carried out on the image before: what counts is what was accepted, not the turn."""
    _, view = run(config(**FIELDS, scenario=name, turns=20, gate=EVERY_OTHER))
    accepted = [attempt.decision.action == "accept" for attempt in view.attempts]
    assert 4 < sum(accepted) < 16
    assert set(truths(view).values()) == {80.0}


@pytest.mark.parametrize("then", ["rollback", "restart"])
def test_a_turn_that_was_taken_back_is_not_either(then: str, config: Config, run: Run) -> None:
    policy = {"attempts": 1, "then": then}
    _, view = run(config(**FIELDS, scenario="rotate_four_times", turns=20, gate=EVERY_OTHER, on_reject=policy))
    assert {attempt.decision.action for attempt in view.attempts} == {"accept", then}
    assert set(truths(view).values()) == {80.0}


@pytest.mark.parametrize("history", ["origin", "anchor"])
def test_what_the_editor_was_given_counts(history: str, config: Config, run: Run) -> None:
    """An editor that always gets the origin mirrors that, at even turns too."""
    _, view = run(config(**FIELDS, scenario="mirror_twice", turns=6, history=history))
    assert set(truths(view).values()) == {80.0}


def test_an_editor_that_does_not_mirror_is_found_out(config: Config, run: Run) -> None:
    """Wrong at odd turns, and at even ones right again: two mirrors that were left out make the origin."""
    editor = {"type": "scripted", "default": "noise:1"}
    _, view = run(config(**{**FIELDS, "editor": editor}, scenario="mirror_twice", turns=4))
    first, second, third, fourth = (value or 0 for value in truths(view).values())
    assert max(first, third) < 20
    assert min(second, fourth) > 40


def test_an_editor_that_does_nothing_at_all_is_wrong_at_every_turn(config: Config, run: Run) -> None:
    """Its answer is the input, byte for byte: no edit was accepted, so every turn owes the first mirror."""
    editor = {"type": "scripted", "default": "same", "stochastic": False}
    _, view = run(config(**{**FIELDS, "editor": editor}, scenario="mirror_twice", turns=4))
    assert len(set(truths(view).values())) == 1
    assert (truths(view)[2] or 0) < 20


def test_gray_is_exact_and_colours_are_not(config: Config, run: Run) -> None:
    _, view = run(config(**FIELDS, scenario="decolorise_recolorise", turns=4))
    values = truths(view)
    assert values[1] == 80.0
    assert values[2] is not None and values[2] < 35, "the simulator cannot know the original colours"


def test_replicate_is_still_measured_against_the_origin(config: Config, run: Run) -> None:
    """The truth row is what the same evaluator scores beside it."""
    fields = {**FIELDS, "editor": "simulated", "evaluators": {"psnr": "psnr"}}
    _, view = run(config(**fields, scenario="replicate", turns=5))
    scores = {attempt.row.turn: attempt.scores["psnr"].value for attempt in view.attempts}
    assert truths(view) == scores


@pytest.mark.parametrize("name", ["add_apple", "add_fruits"])
def test_there_is_no_ideal_of_an_added_object(name: str, config: Config, run: Run) -> None:
    with pytest.raises(ConfigError, match="ideal result of scenario"):
        run(config(**FIELDS, scenario=name))
    measured = {**FIELDS, "editor": "simulated", "truth": {"measure": "simulator", "damaged_at": 3}}
    assert all(value is not None for value in truths(run(config(**measured, scenario=name, turns=5))[1]).values())


def test_what_the_simulator_recorded_is_in_the_ledger(config: Config, run: Run) -> None:
    fields = {**FIELDS, "editor": "simulated", "truth": None}
    _, view = run(config(**fields, scenario="add_fruits", turns=8))
    counts = [attempt.row.metadata["objects"] for attempt in view.attempts]
    assert counts == sorted(counts) and counts[-1] >= 5
    assert all(attempt.row.object_failure is not None for attempt in view.attempts)


@pytest.mark.parametrize("attempts", [3, 7])
def test_a_resumed_run_knows_its_objects(config: Callable[..., Any], run: Callable[..., Any], attempts: int) -> None:
    """The simulator's record of what it drew comes back from the ledger: the rows are those of an undisturbed run."""
    fields: dict[str, Any] = {
        "origin": {"image": "skimage:coffee", "size": 64}, "editor": {"type": "simulated", "failures": 2},
        "scenario": "add_fruits", "turns": 14,
    }  # fmt: skip

    def rows(view: RunView) -> list[dict[str, Any]]:
        return [attempt.row.comparable() for attempt in view.attempts]

    whole = rows(run(config(**fields), "whole")[1])
    run(config(**fields, budgets={"attempts": attempts}), "cut")
    assert rows(run(config(**fields), "cut")[1]) == whole
