"""The append-only record of a run: one row per (turn, attempt), first writer wins, no row changes; calls made once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from turngate.clock import Clock
from turngate.errors import MachineError, NoSuchRun
from turngate.traces._sqlite import LedgerReader, connect, encode, machine_errors
from turngate.traces.records import (
    TABLES,
    AttemptRecord,
    AttemptRow,
    CallRow,
    CompositeRow,
    DecisionRow,
    EventRow,
    OriginRecord,
    Row,
    ScoreRow,
    TruthRow,
    truths_by_name,
)
from turngate.traces.redact import reread_secrets
from turngate.traces.reserve import DiskReserve

__all__ = ["Ledger", "call_key", "once"]


R = TypeVar("R", bound=Row)
_NO_TRUTHS: Mapping[str, TruthRow] = {}
_MOMENTS = {"events": "at_ns", "decisions": "at_ns", "calls": "ended_ns", "scores": "ended_ns", "attempts": "ended_ns"}
"""Table -> the column of its latest moment."""


class Ledger:
    """`ledger.sqlite` of one run. Safe to use from several threads of one process."""

    def __init__(self, path: Path, *, read_only: bool = False, durable: bool = True) -> None:
        """Open, or create when not `read_only`.

        `durable` (`synchronous=FULL`) survives a power cut at any moment; without it the last commits may be lost
        in a power cut, but never in a crash or kill of the process.
        """
        if read_only and not path.is_file():
            raise NoSuchRun(f"no ledger at {path}: give the folder of a run")
        self.path = path
        self._lock = threading.RLock()
        reread_secrets()
        with machine_errors(path):
            self._link = connect(path, read_only=read_only, durable=durable)
        self._reader = LedgerReader(self._link, path.parent)
        self._clock = Clock(0 if read_only else self._latest_ns())

    def now_ns(self) -> int:
        """Unix nanoseconds, for what is recorded now: later than all that was recorded before."""
        return self._clock.now_ns()

    def record(
        self,
        attempt: AttemptRow,
        scores: Sequence[ScoreRow],
        truth: TruthRow | None,
        decision: DecisionRow,
        composite: CompositeRow | None = None,
        more_truths: Mapping[str, TruthRow] = _NO_TRUTHS,
    ) -> DecisionRow:
        """Write one attempt in one transaction and return the decision that stands: the first one written."""
        with self._lock, machine_errors(self.path):
            self._link.execute("BEGIN IMMEDIATE")
            try:
                if self._insert("attempts", attempt):
                    for score in scores:
                        self._insert("scores", score)
                    for row in (truth, *more_truths.values()):
                        if row is not None:
                            self._insert("truth", row)
                    self._insert("decisions", decision)
                    if composite is not None:
                        self._insert("composites", composite)
                self._link.execute("COMMIT")
            except BaseException:
                self._link.execute("ROLLBACK")
                raise
            place = (attempt.turn, attempt.attempt)
            return self._reader.rows("decisions", DecisionRow, "WHERE turn=? AND attempt=?", place)[0]

    def add_scores(self, scores: Sequence[ScoreRow], truths: Sequence[TruthRow] = ()) -> None:
        """Append scores and truths that belong to no new attempt (those of the origin); existing ones are kept."""
        with self._lock, machine_errors(self.path):
            self._link.execute("BEGIN IMMEDIATE")
            for score in scores:
                self._insert("scores", score)
            for truth in truths:
                self._insert("truth", truth)
            self._link.execute("COMMIT")

    def call(self, key: str) -> CallRow | None:
        """The recorded answer to a call, or None."""
        with self._lock, machine_errors(self.path):
            found = self._reader.rows("calls", CallRow, "WHERE key=?", (key,))
        return found[0] if found else None

    def add_call(self, row: CallRow) -> CallRow:
        """Record an answer; returns the one that is recorded."""
        with self._lock, machine_errors(self.path):
            self._insert("calls", row)
            return self._reader.rows("calls", CallRow, "WHERE key=?", (row.key,))[0]

    def add_event(self, kind: str, data: dict[str, Any]) -> None:
        """Append an event."""
        with self._lock, machine_errors(self.path):
            seq = self._link.execute("SELECT COALESCE(MAX(seq), 0) + 1 FROM events").fetchone()[0]
            self._insert("events", EventRow(seq=seq, kind=kind, data=data, at_ns=self.now_ns()))

    def copy_rows(self, parent: Ledger, up_to_turn: int) -> None:
        """Copy the rows of turns 0..`up_to_turn` of `parent` (fork); an ending there does not end this run."""
        with self._lock, machine_errors(self.path):
            self._link.execute("BEGIN IMMEDIATE")
            for table in ("attempts", "scores", "truth", "decisions", "calls"):
                model = TABLES[table][0]
                for row in parent._reader.rows(table, model, "WHERE turn<=? ORDER BY rowid", (up_to_turn,)):
                    if isinstance(row, DecisionRow):
                        row = row.model_copy(update={"status_after": "running"})
                    self._insert(table, row)
            for composite in parent.composites():
                if composite.turn <= up_to_turn:
                    self._insert("composites", composite)
            self._link.execute("COMMIT")

    def records(self) -> list[AttemptRecord]:
        """All attempts with what was recorded about each, in order; scores in order of evaluator."""
        scores: dict[tuple[int, int], list[ScoreRow]] = defaultdict(list)
        for score in self.scores():
            scores[score.turn, score.attempt].append(score)
        truths: dict[tuple[int, int], list[TruthRow]] = defaultdict(list)
        for row in self.truths():
            truths[row.turn, row.attempt].append(row)
        decisions = {(decision.turn, decision.attempt): decision for decision in self.decisions()}
        composites = {(composite.turn, composite.attempt): composite for composite in self.composites()}
        records = []
        for attempt in self.attempts():
            key = (attempt.turn, attempt.attempt)
            if key in decisions:
                truth, more = truths_by_name(truths[key])
                score_rows = tuple(scores[key])
                records.append(AttemptRecord(attempt, score_rows, truth, decisions[key], composites.get(key), more))
        return records

    def origin(self) -> OriginRecord:
        """Scores and truths of the origin."""
        with self._lock, machine_errors(self.path):
            scores = self._reader.rows("scores", ScoreRow, "WHERE turn=0 ORDER BY evaluator")
            truth, more = truths_by_name(self._reader.rows("truth", TruthRow, "WHERE turn=0"))
        return OriginRecord(tuple(scores), truth, more)

    def attempts(self) -> list[AttemptRow]:
        """All attempts in order."""
        return self._all("attempts", AttemptRow, "turn, attempt")

    def scores(self) -> list[ScoreRow]:
        """All scores, in order of turn, attempt and evaluator."""
        return self._all("scores", ScoreRow, "turn, attempt, evaluator")

    def truths(self) -> list[TruthRow]:
        """All truth rows in order, of each image the leading one first."""
        return self._all("truth", TruthRow, "turn, attempt, rowid")

    def decisions(self) -> list[DecisionRow]:
        """All decisions in order."""
        return self._all("decisions", DecisionRow, "turn, attempt")

    def composites(self) -> list[CompositeRow]:
        """What masked accepts made, in order."""
        with self._lock, machine_errors(self.path):
            return self._reader.composites()

    def calls(self) -> list[CallRow]:
        """All recorded calls in order."""
        return self._all("calls", CallRow, "turn, attempt, kind, key")

    def events(self) -> list[EventRow]:
        """All events in order."""
        return self._all("events", EventRow, "seq")

    def check(self) -> str:
        """SQLite's own integrity check: `ok`, or what is wrong."""
        with self._lock, machine_errors(self.path):
            return str(self._link.execute("PRAGMA integrity_check").fetchone()[0])

    def close(self) -> None:
        """Close the file; SQLite folds the write-ahead log into it."""
        with self._lock:
            self._link.close()

    def _latest_ns(self) -> int:
        """The latest moment in the ledger; 0 in an empty one."""
        with self._lock, machine_errors(self.path):
            found = [
                self._link.execute(f"SELECT MAX({column}) FROM {table}").fetchone()[0]  # noqa: S608 - our own constants
                for table, column in _MOMENTS.items()
            ]
        return max((moment for moment in found if moment is not None), default=0)

    def _all(self, table: str, model: type[R], order: str) -> list[R]:
        with self._lock, machine_errors(self.path):
            return self._reader.rows(table, model, f"ORDER BY {order}")

    def _insert(self, table: str, row: Row) -> bool:
        places = ", ".join("?" * len(type(row).model_fields))
        columns = ", ".join(type(row).model_fields)
        statement = f"INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT DO NOTHING"  # noqa: S608 - our own constants
        return self._link.execute(statement, encode(row)).rowcount == 1


# Every paid or non-deterministic call goes through `once`: it is made again only if its answer was never stored.


def call_key(kind: str, run: str, turn: int, attempt: int, inputs: list[str], parameters: Mapping[str, Any]) -> str:
    """SHA-256 over everything that makes two calls the same call. `inputs` are image hashes."""
    text = json.dumps([kind, run, turn, attempt, inputs, parameters], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def once(
    ledger: Ledger,
    key: str,
    kind: str,
    turn: int,
    attempt: int,
    call: Callable[[], dict[str, Any]],
    reserve: DiskReserve | None = None,
) -> CallRow:
    """The stored answer to `key`, or the answer of `call`, stored before it is returned.

    `call` returns plain JSON and puts images into the store itself. Only a call that was in flight when the
    process died is made twice. A call that is paid for gets a `reserve`: room for its answer is there before it.
    """
    stored = ledger.call(key)
    if stored is not None:
        return stored
    if reserve is not None:
        reserve.secure()
    started = ledger.now_ns()
    answer = call()
    ended = ledger.now_ns()
    row = CallRow(key=key, kind=kind, turn=turn, attempt=attempt, answer=answer, started_ns=started, ended_ns=ended)
    try:
        return ledger.add_call(row)
    except MachineError:
        if reserve is None:
            raise
        reserve.release()
        return ledger.add_call(row)
