"""The live view of a run on standard error: a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from turngate.cli.columns import TimeLeft, duration, plain
from turngate.errors import counted
from turngate.pages.viewer import quick_summary
from turngate.traces.records import AttemptRecord, ScoreRow
from turngate.traces.run_folder import RunInfo

__all__ = ["Live", "LiveTable", "truth_of"]


# The table of the last attempts of a run, as wide as the terminal and no wider.

_NAME, _NUMBER = 12, 8
"""Widest head of an evaluator's column, and its narrowest body, in cells."""
_REASON = 24
"""A narrower column of reasons says too little: then only the last reason stands, beneath the table."""
_GAP = 2
_ACTIONS = {"force_accept": "forced in", "keep_best": "keep best", "rollback": "roll back"}
_COLOURS = {"accept": "green", "accept_masked": "green", "reject": "yellow"}


class LiveTable:
    """Which columns the table has depends on the run's configuration and the width."""

    def __init__(self, info: RunInfo) -> None:
        config = info.recorded
        self._truth = config.truth is not None
        names = list(config.evaluators)
        read = _texts(config.gate.settings)
        self._evaluators = sorted(names, key=lambda name: name not in read)
        """Those that the gate reads come first."""

    def render(self, recent: Sequence[AttemptRecord], width: int) -> tuple[Table, list[Text]]:
        """The table, and lines beneath it for what had no room."""
        costs = any(cost_of(record) is not None for record in recent)
        columns = [("turn", 4), ("attempt", 7), ("decision", 12)]
        columns += [("truth", 14)] if self._truth else []
        columns += [("US $", 7)] if costs else []
        room = width - sum(size + _GAP for _, size in columns)
        shown: dict[str, int] = {}
        for name in self._evaluators:
            size = max(_NUMBER, min(_NAME, cell_len(plain(name))))
            if room < size + _GAP:
                break
            shown[name] = size
            room -= size + _GAP
        reasons = room >= _REASON + _GAP
        table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, width=width)
        for number, (title, size) in enumerate([*columns, *shown.items()]):
            left = title in ("decision", "truth") and number < len(columns)
            table.add_column(_cut(title, size), width=size, justify="left" if left else "right", no_wrap=True)
        table.add_column("reason" if reasons else "", ratio=1, no_wrap=True, overflow="ellipsis")
        for record in recent:
            cells = [Text(str(record.attempt.turn)), Text(str(record.attempt.attempt)), _decision(record)]
            cells += [_truth(record)] if self._truth else []
            cells += [_money(cost_of(record))] if costs else []
            scores = {score.evaluator: score for score in record.scores}
            cells += [_cut(score_of(scores.get(name)), size) for name, size in shown.items()]
            table.add_row(*cells, Text(plain(record.decision.reason, 200) if reasons else ""))
        return table, list(self._beneath(recent, shown, reasons, width))

    def _beneath(
        self, recent: Sequence[AttemptRecord], shown: Iterable[str], reasons: bool, width: int
    ) -> Iterable[Text]:
        if not recent:
            return
        last = recent[-1]
        scores = {score.evaluator: score for score in last.scores}
        more = [name for name in self._evaluators if name not in shown]
        if more:
            yield _line(", ".join(f"{plain(name, 40)} {score_of(scores.get(name))}" for name in more), width)
        if not reasons:
            yield _line(plain(last.decision.reason, 200), width)


def decision_of(record: AttemptRecord) -> str:
    """What was decided and what followed, in a word or two."""
    decision = record.decision
    word = _ACTIONS.get(decision.action, decision.action)
    if record.attempt.outcome == "no_image":
        return "no image"
    if record.attempt.outcome == "no_change":
        return f"same, {word}"
    masked = record.composite is not None and record.composite.image is not None
    return "masked" if masked else word


def score_of(score: ScoreRow | None) -> str:
    """A value, or why there is none."""
    if score is None:
        return "-"
    return f"{score.value:.4g}" if score.value is not None else score.status


def truth_of(record: AttemptRecord) -> str:
    """The truth about a candidate: what is not known is called that."""
    truth = record.truth
    if truth is None:
        return "-"
    if truth.value is None or truth.damaged is None:
        return "not known"
    return f"{truth.value:.4g} {'damaged' if truth.damaged else 'sound'}"


def cost_of(record: AttemptRecord) -> float | None:
    """US dollars of the editor and of the judges; None when none is known."""
    costs = (record.attempt.cost_usd, *(score.usage.get("cost_usd") for score in record.scores))
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def _decision(record: AttemptRecord) -> Text:
    return Text(decision_of(record), style=_COLOURS.get(record.decision.verdict, ""))


def _truth(record: AttemptRecord) -> Text:
    damaged = record.truth is not None and record.truth.damaged
    return Text(truth_of(record), style="red" if damaged else "")


def _money(cost: float | None) -> Text:
    return Text("-" if cost is None else f"{cost:.4f}")


def _cut(text: str, size: int) -> Text:
    line = plain(text)
    return Text(line if cell_len(line) <= size else set_cell_size(line, size - 1) + "…")


def _line(text: str, width: int) -> Text:
    return Text(_cut(text, width).plain, style="dim", no_wrap=True)


def _texts(value: Any) -> set[str]:
    """Every text in a component's configuration: the names of evaluators that it reads are among them."""
    if isinstance(value, dict):
        return {text for one in value.values() for text in _texts(one)}
    if isinstance(value, list | tuple):
        return {text for one in value for text in _texts(one)}
    return {value} if isinstance(value, str) else set()


_SHOWN = 12
_BENEATH = 5
"""Lines of the terminal that are not for attempts."""
_PER_SECOND = 4
"""How often the table is drawn, by a thread of its own: a loop of a thousand turns a second does not wait for it."""


class Live:
    """Observer of a run; context manager around it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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
        config, resolved = info.recorded, info.resolved
        self._turns = config.turns
        simulated = " (SIMULATED)" if resolved.simulated else ""
        editor, gate = plain(str(resolved.editor.model)), plain(config.gate.type)
        self._say(
            f"{plain(str(self._folder))}: {counted(self._turns, 'turn')}, editor {editor}{simulated}, gate {gate}"
        )
        for idle in resolved.editor.idle:
            self._say(f"does nothing: {plain(idle)}", style="yellow")
        if resolved.editor.left_out:
            self._say(f"note: {plain(resolved.editor.left_out, 400)}", style="yellow")
        self._cost = quick_summary(self._folder).cost_usd  # of what was done before, when the run goes on
        self._left = TimeLeft(self._turns)
        self._since = time.monotonic()
        if self._console.is_interactive and self._console.file.isatty():
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
        self._console.print(Text(line, style=style), soft_wrap=True)

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
