"""The live view of a run on standard error: a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from turngate.cli._live_table import LiveTable, cost_of, decision_of, score_of, truth_of
from turngate.cli._text import plain
from turngate.cli._time_left import TimeLeft, duration
from turngate.traces.records import AttemptRecord
from turngate.traces.run_folder import RunInfo
from turngate.traces.viewer.glance import glance

__all__ = ["Live"]

_SHOWN = 12
_BENEATH = 5
"""Lines of the terminal that are not for attempts."""
_PER_SECOND = 4
"""How often the table is drawn, by a thread of its own: a loop of a thousand turns a second does not wait for it."""


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
        self._left = TimeLeft(0)
        self._table: LiveTable | None = None
        self._live: RichLive | None = None
        self._since = time.monotonic()
        """When the present attempt began."""

    def __enter__(self) -> Live:
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
        self._say(f"{plain(str(self._folder))}: {self._turns} turns, editor {editor}{simulated}, gate {gate}")
        self._cost = glance(self._folder).cost_usd  # of what was done before, when the run goes on
        self._left = TimeLeft(self._turns)
        self._since = time.monotonic()
        if self._console.is_interactive and self._console.file.isatty() and not self._label:
            self._table = LiveTable(info)
            self._live = RichLive(
                console=self._console, get_renderable=self._render, refresh_per_second=_PER_SECOND, transient=True
            )
            self._live.start()

    def attempt(self, record: AttemptRecord) -> None:
        """Show one attempt."""
        turn = record.attempt.turn
        if not self._recent:
            self._left.begin_at(turn - 1)
        self._recent.append(record)
        self._since = time.monotonic()
        cost = cost_of(record)
        self._cost = self._cost if cost is None else (self._cost or 0.0) + cost
        self._left.reached(turn - (not record.decision.closes_turn))
        for flag in record.attempt.flags:
            if flag.startswith("model_changed:"):
                self._say(f"turn {turn}: another model answers, {plain(flag, 160)}", style="yellow")
        if self._live is None and record.decision.closes_turn:
            self._say(self._line(record))

    def ended(self, status: str, reason: str | None, ended_ns: int) -> None:
        """Nothing: the summary says it."""

    def _say(self, line: str, style: str = "") -> None:
        self._console.print(Text(self._label + line, style=style), soft_wrap=True)

    def _render(self) -> RenderableType:
        width = self._console.width - 1  # in the last column some terminals break the line
        recent = list(self._recent)[-max(1, self._console.height - _BENEATH) :]
        if self._table is None or not recent:
            return Text(self._progress(None))
        table, beneath = self._table.render(recent, width)
        last = recent[-1]
        bar = Table.grid(padding=(0, 2, 0, 0))
        done = last.attempt.turn - (not last.decision.closes_turn)
        bar.add_row(ProgressBar(self._turns, done, width=min(24, width // 4)), Text(self._progress(last), no_wrap=True))
        return Group(table, *beneath, bar)

    def _progress(self, last: AttemptRecord | None) -> str:
        here = time.monotonic() - self._since
        if last is None:
            return f"first attempt, {duration(here)}"
        closed = last.decision.closes_turn
        turn = last.attempt.turn + closed
        now = f"turn {min(turn, self._turns)} of {self._turns}"
        if turn <= self._turns:
            now += f", attempt {1 if closed else last.attempt.attempt + 1} for {duration(here)}"
        cost = "" if self._cost is None else f", ${self._cost:.4f}"
        return f"{now}{cost}{self._left.text}"

    def _line(self, record: AttemptRecord) -> str:
        truth = f" truth {truth_of(record)}" if record.truth else ""
        attempts = f" after {record.attempt.attempt} attempts" if record.attempt.attempt > 1 else ""
        scores = " ".join(f"{plain(score.evaluator)} {score_of(score)}" for score in record.scores)
        return (
            f"turn {record.attempt.turn}/{self._turns} {decision_of(record)}{attempts}: "
            f"{scores}{truth} ({plain(record.decision.reason, 120)}){self._left.text}"
        )
