"""`turngate replay`, `calibrate` and `compare` as a user calls them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .program import Done

Turngate = Callable[..., Done]
GRAYS = {"1": 0.2, "2": 0.3, "3": 0.6, "4": 0.7, "5": 0.8}
DAMAGE = {"1": 0.0, "2": 1.0, "3": 5.0, "4": 6.0, "5": 7.0}


@pytest.fixture
def run(turngate: Turngate, write: Callable[..., Path]) -> str:
    """A run without a gate that edits the origin every turn."""
    write(
        editor={"type": "scripted", "size": 16, "script": GRAYS, "damage": DAMAGE},
        truth={"measure": "simulator", "damaged_at": 5}, history="origin",
    )  # fmt: skip
    assert turngate("run", "run.yaml", "--out", "run", "--quiet").code == 0
    return "run"


def test_thresholds_are_swept_over_a_record(turngate: Turngate, run: str) -> None:
    gate = "gate={type: threshold, evaluator: gray, at: 1}"
    done = turngate("replay", run, "--set", gate, "--sweep", "gate.at=0.1,0.5,0.9", "--json")
    assert done.code == 0, done.err
    found = [
        (row["value"], row["answer"]["progress"], row["answer"]["exposure"], row["answer"]["alarms"]["alarmed"])
        for row in done.json()["replays"]
    ]
    assert found == [("0.1", 0.0, 0.0, 1), ("0.5", 40.0, 0.0, 0), ("0.9", 40.0, 0.6, 0)]
    assert all(row["covers_the_run"] for row in done.json()["replays"])
    table = turngate("replay", run, "--set", gate, "--sweep", "gate.at=0.5").out
    assert "the end" in table


def test_an_evaluator_can_be_added(turngate: Turngate, run: str) -> None:
    gate = "gate={type: threshold, evaluator: light, at: 0.5}"
    done = turngate("replay", run, "--with", "light=scripted", "--set", gate)
    assert done.code == 0, done.err
    assert "turn 3, attempt 1: accept -> skip" in done.out


def test_what_touches_the_candidates_is_refused(turngate: Turngate, run: str) -> None:
    turngate("replay", run, "--set", "seed=3").refused(2, "seed", "fork the run")
    turngate("replay", run, "--sweep", "gate.at").refused(2, "--sweep gate.at")
    turngate("replay", "nowhere").refused(2, "nowhere")


def test_a_calibrated_gate_can_be_used_as_it_is_printed(turngate: Turngate, run: str) -> None:
    done = turngate("calibrate", run, "--evaluator", "gray", "--alpha", "0.4", "--turns", "5", "--out", "clean.csv")
    assert done.code == 0, done.err
    assert "from 2 clean edits of 1 run" in done.out, "damaged candidates are not clean edits"
    assert "nothing is known out of sample: one origin only" in done.out
    line = next(line for line in done.out.splitlines() if line.startswith("gate: "))
    again = turngate("replay", run, "--set", line.replace("gate: ", "gate="), "--json")
    assert again.code == 0, again.err
    assert again.json()["replays"][0]["answer"]["turns"]["propagated_fresh"] == 0


def test_too_few_clean_edits_say_how_many_are_needed(turngate: Turngate, run: str) -> None:
    turngate("calibrate", run, "--evaluator", "gray").refused(2, "at least 19 are needed", "more runs")
    turngate("calibrate", run, "--evaluator", "grey").refused(2, "no score of 'grey'")
    turngate("calibrate", run, "--evaluator", "gray", "--alpha", "2").refused(2, "alpha")


def test_two_runs_are_compared(turngate: Turngate, run: str) -> None:
    assert turngate("fork", run, "--turn", "2", "--out", "child", "--set", "gate=always_reject", "--quiet").code == 0
    turngate("resume", "child", "--quiet")
    done = turngate("compare", run, "child")
    assert "they part at turn 3, attempt 1: decision" in done.out
    assert turngate("compare", run, "child", "--json").json()["parting"]["turn"] == 3
    assert "every attempt is the same" in turngate("compare", run, run).out
