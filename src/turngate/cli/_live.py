"""The live view of a run on standard error: a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.table import Table
from rich.text import Text

from turngate.cli._text import plain
from turngate.traces.records import AttemptRecord
from turngate.traces.run_folder import RunInfo

__all__ = ["Live"]

_SHOWN = 12


class Live:
    """Observer of a run; context manager around it."""

    def __init__(self, folder: Path, label: str = "") -> None:
        """`label` stands before every line and rules out the table: others write to the same terminal."""
        self._folder = folder
        self._label = label
        self._console = Console(stderr=True, highlight=False)
        self._recent: deque[AttemptRecord] = deque(maxlen=_SHOWN)
        self._turns = 0
        self._cost: float | None = None
        self._first_turn = 0
        self._began = time.monotonic()
        self._live: RichLive | None = None

    def __enter__(self) -> Live:
        if self._console.is_terminal and not self._label:
            self._live = RichLive(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def started(self, info: RunInfo, started_ns: int) -> None:
        """Say what begins."""
        self._turns = int(info.config["turns"])
        simulated = " (SIMULATED)" if info.resolved["simulated"] else ""
        editor = plain(str(info.resolved["editor"]["model"]))
        gate = plain(str(info.config["gate"]["type"]))
        text = f"{self._folder}: {self._turns} turns, editor {editor}{simulated}, gate {gate}"
        self._console.print(Text(text))

    def attempt(self, record: AttemptRecord) -> None:
        """Show one attempt."""
        self._first_turn = self._first_turn or record.attempt.turn
        self._recent.append(record)
        if record.attempt.cost_usd is not None:
            self._cost = (self._cost or 0.0) + record.attempt.cost_usd
        for flag in record.attempt.flags:
            if flag.startswith("model_changed:"):
                warning = f"{self._label}turn {record.attempt.turn}: another model answers, {plain(flag, 160)}"
                self._console.print(Text(warning, style="yellow"), soft_wrap=True)
        if self._live is not None:
            self._live.update(Group(self._table(), Text(self._progress(record))), refresh=True)
        elif record.decision.closes_turn:
            self._console.print(Text(self._label + self._line(record)), soft_wrap=True)

    def ended(self, status: str, reason: str | None, ended_ns: int) -> None:
        """Nothing: the summary says it."""

    def _table(self) -> Table:
        table = Table(box=None)
        for title in ("turn", "attempt", "decision", "scores", "truth", "reason"):
            flexible = title in ("scores", "reason")
            table.add_column(title, no_wrap=True, overflow="ellipsis", min_width=None if flexible else len(title))
        for record in self._recent:
            colour = {"accept": "green", "reject": "red"}.get(record.decision.verdict, "")
            table.add_row(
                str(record.attempt.turn),
                str(record.attempt.attempt),
                Text(record.decision.action, style=colour),
                Text(_scores(record)),
                Text(_truth(record)),
                Text(plain(record.decision.reason, 80)),
            )
        return table

    def _progress(self, record: AttemptRecord) -> str:
        done = record.attempt.turn - self._first_turn + record.decision.closes_turn
        spent = time.monotonic() - self._began
        left = f", about {spent / done * (self._turns - record.attempt.turn):.0f} s left" if done else ""
        cost = "" if self._cost is None else f", ${self._cost:.4f}"
        return f"turn {record.attempt.turn} of {self._turns}, {spent:.0f} s{left}{cost}"

    def _line(self, record: AttemptRecord) -> str:
        truth = f" truth {_truth(record)}" if record.truth else ""
        attempts = f" after {record.attempt.attempt} attempts" if record.attempt.attempt > 1 else ""
        decision = f"{record.decision.action}{attempts}"
        return (
            f"turn {record.attempt.turn}/{self._turns} {decision}: "
            f"{_scores(record)}{truth} ({plain(record.decision.reason, 120)})"
        )


def _scores(record: AttemptRecord) -> str:
    return " ".join(
        f"{plain(score.evaluator)} {score.value:.4g}"
        if score.value is not None
        else f"{plain(score.evaluator)} {score.status}"
        for score in record.scores
    )


def _truth(record: AttemptRecord) -> str:
    if record.truth is None or record.truth.value is None:
        return "-"
    return f"{record.truth.value:.4g} {'damaged' if record.truth.damaged else 'sound'}"
