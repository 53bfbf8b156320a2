"""Jumps of the time of day: durations, budgets and spans keep what really passed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turngate import RunView
from turngate.clock import Clock
from turngate.graphs.budget import past_seconds
from turngate.graphs.config import RunConfig
from turngate.traces.records import AttemptRecord
from turngate.traces.run_folder import RunFolder

Config = Callable[..., RunConfig]
Run = Callable[..., tuple[Any, RunView]]
HOUR = 3600 * 10**9


class Jump:
    """The time of day jumps once, after a turn was recorded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at_turn: int, by_ns: int) -> None:
        self.at_turn, self.by_ns, self.jumped = at_turn, by_ns, 0
        real = time.time_ns
        monkeypatch.setattr(time, "time_ns", lambda: real() + self.jumped)
        monkeypatch.setattr(time, "time", lambda: (real() + self.jumped) / 1e9)

    def started(self, info: object, started_ns: int) -> None: ...
    def ended(self, status: str, reason: str | None, ended_ns: int) -> None: ...
    def attempt(self, record: AttemptRecord) -> None:
        if record.attempt.turn == self.at_turn:
            self.jumped = self.by_ns


@pytest.mark.parametrize("by", [HOUR, -HOUR], ids=["forward", "backward"])
@pytest.mark.parametrize("driver", ["loop", "graph"])
def test_a_jump_within_a_run_uses_up_nothing(
    config: Config, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: int, driver: str
) -> None:
    settings = config(turns=6, driver=driver, budgets={"wall_seconds": 600, "attempts": 4})
    ended, _ = run(settings, observers=[Jump(monkeypatch, 2, by)])
    assert (ended.status, "attempts" in (ended.reason or "")) == ("budget_exhausted", True)
    ended, view = run(config(turns=6, driver=driver, budgets={"wall_seconds": 600}))
    assert (ended.status, len(view.attempts)) == ("complete", 6)
    ledger = RunFolder(tmp_path / "run").ledger()
    moments = [event.at_ns for event in ledger.events()]
    assert moments == sorted(moments)
    assert past_seconds(ledger.events(), ledger.decisions()) < 600
    for one in view.attempts:
        spans = [(one.row.started_ns, one.row.ended_ns), *((s.started_ns, s.ended_ns) for s in one.scores.values())]
        assert all(0 <= end - start < 600e9 for start, end in spans)
        assert all(end <= one.decision.at_ns for _, end in spans)
    decided = [one.decision.at_ns for one in view.attempts]
    assert decided == sorted(decided)


def test_a_clock_begins_after_what_is_recorded() -> None:
    later = time.time_ns() + HOUR
    clock = Clock(not_before_ns=later)
    first, second = clock.now_ns(), clock.now_ns()
    assert later <= first <= second < later + HOUR
