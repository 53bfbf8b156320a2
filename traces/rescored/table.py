"""The table of scores: results are appended as they come, the first writer of a row wins, no row is ever changed."""

from __future__ import annotations

import csv
import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeVar, cast

from turngate.errors import MissingExtra, NoSuchRun
from turngate.traces._older import flags_now
from turngate.traces._sqlite import connect, decode, encode, machine_errors
from turngate.traces.records import Row
from turngate.traces.redact import reread_secrets
from turngate.traces.rescored.records import SCORE_TABLE, SCORE_TABLES, ScoredRow, ScoringPass, ScoringPassEnd

__all__ = [
    "FILE_NAME",
    "Coverage",
    "KnownResult",
    "ScoreTable",
    "coverage",
    "read_scores",
    "score_lines",
    "write_scores_csv",
    "write_scores_parquet",
]


FILE_NAME = "scores.sqlite"
"""Beside a run's ledger, or in the folder of the images."""

R = TypeVar("R", bound=Row)


class KnownResult(NamedTuple):
    """What a row says, as far as counting needs it."""

    status: str
    value: float | None
    why: str | None
    fault: str | None
    untouched: bool = False
    """The value compares an image with itself."""
    is_origin: bool = False
    """It is about the origin of a run, which is no candidate."""
    components: Mapping[str, float] = {}
    """Named parts of the value, or of what a pairwise judge answered."""


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
            self._link = connect(path, read_only=read_only, durable=False, kind=SCORE_TABLE, tables=SCORE_TABLES)

    def add(self, rows: Sequence[Row]) -> int:
        """Append rows of one or more tables in one transaction; returns how many were new."""
        tables = {model: name for name, (model, _) in SCORE_TABLES.items()}
        added = 0
        with self._lock, machine_errors(self.path):
            self._link.execute("BEGIN IMMEDIATE")
            try:
                for row in rows:
                    values = ", ".join("?" * len(type(row).model_fields))
                    columns = ", ".join(type(row).model_fields)
                    statement = f"INSERT INTO {tables[type(row)]} ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING"  # noqa: S608 - our own constants
                    added += self._link.execute(statement, encode(row)).rowcount
                self._link.execute("COMMIT")
            except BaseException:
                self._link.execute("ROLLBACK")
                raise
        return added

    def results(self) -> dict[str, KnownResult]:
        """Key of every row -> what it says."""
        with self._lock, machine_errors(self.path):
            rows = self._link.execute(
                "SELECT key, status, value, why, fault, role, flags, type, row_version, components FROM scores"
            ).fetchall()
        found = {}
        for key, status, value, why, fault, role, flags, measure, version, parts in rows:
            words = json.loads(flags or "[]")
            untouched = "identical" in (words if version else flags_now(words, measure, value))
            found[key] = KnownResult(status, value, why, fault, untouched, role == "origin", json.loads(parts or "{}"))
        return found

    def scores(self) -> list[ScoredRow]:
        """All rows, in order of turn, attempt, item, evaluator and time."""
        rows = self._all("scores", ScoredRow, "turn, attempt, item, evaluator, started_ns, tries")
        return [
            row if row.row_version > 2 else row.model_copy(update={"flags": flags_now(row.flags, row.type, row.value)})
            for row in rows
        ]

    def passes(self) -> list[tuple[ScoringPass, ScoringPassEnd | None]]:
        """All passes in order, each with how it ended; None for one that was killed or is at work."""
        ends = {end.id: end for end in self._all("pass_ends", ScoringPassEnd, "id")}
        return [(one, ends.get(one.id)) for one in self._all("passes", ScoringPass, "started_ns, id")]

    def close(self) -> None:
        """Close the file; SQLite folds the write-ahead log into it."""
        with self._lock:
            self._link.close()

    def _all(self, table: str, model: type[R], order: str) -> list[R]:
        with self._lock, machine_errors(self.path):
            rows = self._link.execute(f"SELECT * FROM {table} ORDER BY {order}").fetchall()  # noqa: S608 - our own constants
        return [cast(R, decode(model, dict(row))) for row in rows]


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


# How much of a run or folder each evaluator has scored: a choice of images must not pass for all of them.


@dataclass(frozen=True)
class Coverage:
    """One evaluator in one version with one set of settings."""

    evaluator: str
    type: str
    version: str
    parameters: str
    """SHA-256 of its settings."""
    images: int
    """Total number of images, as its latest pass counted them."""
    looked_at: int
    """Images that have a row, whatever is in it."""
    retried: int
    """Images whose failure was asked for again."""

    @property
    def partial(self) -> bool:
        """Only some of the images were scored: numbers over them are a choice, and reports must say so."""
        return self.looked_at < self.images


def coverage(folder: Path) -> list[Coverage]:
    """Coverage of every evaluator that has scored what is in `folder`; raises `NoSuchRun` without scores."""
    table = ScoreTable(folder / FILE_NAME, read_only=True)
    try:
        rows, passes = table.scores(), table.passes()
    finally:
        table.close()
    images = {
        (one["type"], one["version"], one["parameters"]): asked.images
        for asked, _ in passes
        for one in asked.evaluators
    }
    return [_one(key, found, images.get(key[1:], 0)) for key, found in _by_evaluator(rows).items()]


def _by_evaluator(rows: Iterable[ScoredRow]) -> dict[tuple[str, str, str, str], list[ScoredRow]]:
    found: dict[tuple[str, str, str, str], list[ScoredRow]] = defaultdict(list)
    for row in rows:
        found[row.evaluator, row.type, row.version, row.parameters].append(row)
    return found


def _one(key: tuple[str, str, str, str], rows: list[ScoredRow], images: int) -> Coverage:
    again = {row.item for row in rows if row.tries > 1}
    return Coverage(*key, images, len({row.item for row in rows}), len(again))


# Scores as CSV and Parquet, one line per result.


def score_lines(tables: Iterable[tuple[str, Path]]) -> Iterator[dict[str, Any]]:
    """Rows of (name, file) tables with `of` (the name) before them; lists and mappings as JSON text."""
    for name, path in tables:
        table = ScoreTable(path, read_only=True)
        try:
            rows = table.scores()
        finally:
            table.close()
        for row in rows:
            yield {"of": name, **{field: _cell(value) for field, value in row.model_dump(mode="json").items()}}


def write_scores_csv(lines: Iterable[dict[str, Any]], file: TextIO) -> int:
    """Write a header and one line per result; returns how many."""
    writer = csv.DictWriter(file, fieldnames=["of", *ScoredRow.model_fields])
    writer.writeheader()
    count = 0
    for line in lines:
        writer.writerow(line)
        count += 1
    return count


def write_scores_parquet(lines: Iterable[dict[str, Any]], path: Path) -> int:
    """Write a Parquet file; raises `MissingExtra` without pyarrow. Returns the number of rows."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow: pip install 'turngate[parquet]'") from None
    rows = list(lines)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return len(rows)


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
