"""kill -9, SIGTERM and a second process: nothing recorded is lost, nothing is doubled, nothing is called twice."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import TURNGATE, Done

from turngate import RunView
from turngate.graphs.validate import validate

from ._killable import start

Turngate = Callable[..., Done]
Write = Callable[..., Path]


def _fields(log: Path, seconds: float) -> dict[str, Any]:
    return {
        "turns": 100,
        "editor": {"type": "counting.CountingEditor", "log": str(log), "seconds": seconds},
        "evaluators": {"gray": {"type": "scripted"}, "other": {"type": "scripted", "direction": "higher"}},
        "gate": {"type": "random", "accept_rate": 0.6},
        "on_reject": {"attempts": 2, "then": "skip"},
    }


def _rows(folder: Path) -> list[dict[str, Any]]:
    view = RunView.load(folder)
    return [
        {
            **attempt.row.comparable(),
            **attempt.decision.comparable(),
            "scores": [s.value for s in attempt.scores.values()],
        }
        for attempt in view.attempts
    ]


def _start(command: list[object], cwd: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    arguments = [str(part) for part in command]
    return subprocess.Popen(arguments, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.parametrize(("driver", "times"), [("graph", 20), ("loop", 8)])
def test_many_kills(
    turngate: Turngate, write: Write, tmp_path: Path, environment: dict[str, str], driver: str, times: int
) -> None:
    """C9: 20 kills at random moments of 100 turns; the ledger equals that of an undisturbed run."""
    log = tmp_path / "calls.log"
    path = write(**_fields(log, 0.02), driver=driver)
    folder, rng, kills = tmp_path / "run", random.Random(7), 0
    while kills < times:
        begun = (folder / "run.json").exists()
        command = ["resume", folder] if begun else ["run", path, "--out", folder]
        process = start([*command, "--quiet"], tmp_path, environment)
        before = log.stat().st_size if log.exists() else 0
        deadline = time.monotonic() + 30
        while process.exitcode is None and (not log.exists() or log.stat().st_size == before):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.2))
        assert process.exitcode is None, "the run ended before all kills: make it slower"
        process.kill()
        process.join()
        kills += 1
    done = turngate("resume", folder, "--json")
    assert done.json()["status"] == "complete"
    assert validate(folder).problems == []
    calls = Counter(log.read_text().split())
    undisturbed = tmp_path / "undisturbed"
    clean = write("clean.yaml", **_fields(log, 0.0), driver=driver)
    turngate("run", clean, "--out", undisturbed, "--quiet")
    assert _rows(folder) == _rows(undisturbed)
    assert set(calls) == {f"{row['turn']}.{row['attempt']}" for row in _rows(folder)}
    assert sum(calls.values()) <= len(calls) + kills, "more than the call in flight was repeated"


@pytest.mark.slow
def test_killed_between_answer_and_decision(
    turngate: Turngate, write: Write, tmp_path: Path, environment: dict[str, str]
) -> None:
    """C9: the editor's answer was stored, the process dies in the evaluator: the editor is not called again."""
    log = tmp_path / "calls.log"
    slow = {"gray": {"type": "scripted", "delay_seconds": 0.5}}
    path = write(**{**_fields(log, 0.0), "turns": 1, "evaluators": slow, "gate": "always_accept", "on_reject": {}})
    folder = tmp_path / "run"
    process = _start([TURNGATE, "run", path, "--out", folder, "--quiet"], tmp_path, environment)
    while not log.exists():
        time.sleep(0.01)
    time.sleep(0.25)
    process.kill()
    process.wait()
    assert RunView.load(folder).attempts == []
    assert turngate("resume", folder, "--json").json()["accepted"] == 1
    assert log.read_text().split() == ["1.1"]


def test_killed_before_the_first_write(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    """C10: what a dying process left before run.json is no run and not in the way."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.lock").write_text("{}")
    (folder / "images").mkdir()
    turngate("resume", folder).refused(2, "no run at")
    assert turngate("run", write(), "--out", folder, "--json").json()["accepted"] == 5


def test_killed_before_the_first_turn(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    """C10: run.json is there and nothing else happened: resume starts with turn 1."""
    folder = tmp_path / "run"
    assert turngate("run", write(), "--out", folder, "--json").code == 0
    forked = turngate("fork", folder, "--turn", 0, "--no-run", "--out", tmp_path / "child", "--json")
    assert forked.json()["attempts"] == 0
    assert turngate("resume", tmp_path / "child", "--json").json()["turns"] == 5


@pytest.mark.slow
def test_sigterm_ends_after_the_present_attempt(
    turngate: Turngate, write: Write, tmp_path: Path, environment: dict[str, str]
) -> None:
    """C17: exit code 143, the present attempt is whole, resume goes on exactly there."""
    log = tmp_path / "calls.log"
    path, folder = write(**_fields(log, 0.05)), tmp_path / "run"
    process = _start([TURNGATE, "run", path, "--out", folder, "--quiet"], tmp_path, environment)
    while not log.exists() or len(log.read_text().split()) < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    view = RunView.load(folder)
    assert view.status == "interrupted"
    assert len(view.attempts) == len(log.read_text().split())
    done = turngate("resume", folder, "--set", "budgets.attempts=20", "--json")
    assert (done.code, done.json()["attempts"]) == (10, 20)
    assert len(log.read_text().split()) == 20


@pytest.mark.slow
def test_a_second_process_is_refused(
    turngate: Turngate, write: Write, tmp_path: Path, environment: dict[str, str]
) -> None:
    """C13: its own exit code, and the holder is named; reading is allowed meanwhile."""
    log = tmp_path / "calls.log"
    path, folder = write(**_fields(log, 0.1)), tmp_path / "run"
    process = _start([TURNGATE, "run", path, "--out", folder, "--quiet"], tmp_path, environment)
    try:
        while not log.exists():
            time.sleep(0.01)
        turngate("resume", folder).refused(5, f"process {process.pid}")
        turngate("run", path, "--out", folder).refused(5, f"process {process.pid}")
        assert turngate("show", folder, "--json").json()["status"] == "running"
    finally:
        process.kill()
        process.wait()
    assert turngate("show", folder, "--json").json()["status"] == "interrupted"
