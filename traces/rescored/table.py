"""`scores.sqlite`: results are appended as they come, the first writer of a row wins, nothing is ever changed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, cast

from turngate.errors import NoSuchRun
from turngate.traces._sqlite import connect, decode, encode, machine_errors
from turngate.traces.records import Row
from turngate.traces.redact import reread_secrets
from turngate.traces.rescored.records import SCORE_TABLES, PassEndRow, PassRow, ScoredRow

__all__ = ["FILE_NAME", "ScoreTable", "read_scores"]

FILE_NAME = "scores.sqlite"
"""Beside a run's ledger, or in the folder of the images."""

R = TypeVar("R", bound=Row)


class ScoreTable:
    """One file of scores. Safe for several threads, and for several processes at once."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open, or create when not `read_only`; raises `NoSuchRun`, `MachineError` or `DamagedRun`."""
        if read_only and not path.is_file():
            raise NoSuchRun(f"no scores at {path}: run `turngate score` first")
        self.path = path
        self._lock = threading.RLock()
        reread_secrets()
        with machine_errors(path):
            self._link = connect(path, read_only=read_only, durable=False, tables=SCORE_TABLES)

    def add(self, rows: Sequence[Row]) -> int:
        """Append rows of one or more tables in one transaction; returns how many were new."""
        tables = {model: name for name, (model, _) in SCORE_TABLES.items()}
        added = 0
        with self._lock, machine_errors(self.path):
            self._link.execute("BEGIN IMMEDIATE")
            try:
                for row in rows:
                    marks = ", ".join("?" * len(type(row).model_fields))
                    columns = ", ".join(type(row).model_fields)
                    statement = f"INSERT INTO {tables[type(row)]} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608 - our own constants
                    added += self._link.execute(statement, encode(row)).rowcount
                self._link.execute("COMMIT")
            except BaseException:
                self._link.execute("ROLLBACK")
                raise
        return added

    def results(self) -> dict[str, tuple[str, float | None, str | None, str | None]]:
        """Key of every row -> status, value, why and fault."""
        with self._lock, machine_errors(self.path):
            rows = self._link.execute("SELECT key, status, value, why, fault FROM scores").fetchall()
        return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows}

    def scores(self) -> list[ScoredRow]:
        """All rows, in order of turn, attempt, item, evaluator and time."""
        return self._all("scores", ScoredRow, "turn, attempt, item, evaluator, started_ns, tries")

    def passes(self) -> list[tuple[PassRow, PassEndRow | None]]:
        """All passes in order, each with how it ended; None for one that was killed or is at work."""
        ends = {end.id: end for end in self._all("pass_ends", PassEndRow, "id")}
        return [(one, ends.get(one.id)) for one in self._all("passes", PassRow, "started_ns, id")]

    def close(self) -> None:
        """Close the file; SQLite folds the write-ahead log into it."""
        with self._lock:
            self._link.close()

    def _all(self, table: str, model: type[R], order: str) -> list[R]:
        with self._lock, machine_errors(self.path):
            rows = self._link.execute(f"SELECT * FROM {table} ORDER BY {order}").fetchall()  # noqa: S608 - our own constants
        return [cast(R, decode(model, row)) for row in rows]


def read_scores(folder: Path) -> list[ScoredRow]:
    """Scores beside what is in `folder` (a run, or a folder of images); empty when there are none."""
    path = folder / FILE_NAME
    if not path.is_file():
        return []
    table = ScoreTable(path, read_only=True)
    try:
        return table.scores()
    finally:
        table.close()
