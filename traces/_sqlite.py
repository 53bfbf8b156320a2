"""SQLite beneath ledger and table of scores: tables made from the row models, rows of older ledgers, our own errors."""

from __future__ import annotations

import json
import sqlite3
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from turngate.errors import DamagedRun, MachineError
from turngate.sqlite_file import SqliteKind, choose_journal, is_immutable
from turngate.traces._older import answer_now, composite_now, evaluator_of, flags_now, thresholds_now, truth_now
from turngate.traces.records import LEADING_TRUTH, SCHEMA_VERSION, TABLES, CompositeRow, Row, ScoreRow, TruthRow
from turngate.traces.redact import redact

__all__ = ["LEDGER", "LedgerReader", "Tables", "columns", "connect", "decode", "encode", "kind_of", "machine_errors"]

Tables = Mapping[str, tuple[type[Row], tuple[str, ...]]]
"""Table -> (row model, primary key)."""

LEDGER = SqliteKind("ledger", int.from_bytes(b"TGld"), SCHEMA_VERSION, frozenset(TABLES), legacy="attempts")

R = TypeVar("R", bound=Row)

_AFFINITY = {int: "INTEGER", bool: "INTEGER", float: "REAL", str: "TEXT"}


def connect(
    path: Path, *, read_only: bool, durable: bool, kind: SqliteKind = LEDGER, tables: Tables = TABLES
) -> sqlite3.Connection:
    """Open the ledger (or a file of another `kind`); `durable` waits for the disk on every commit.

    Raises `DamagedRun` for a file of another kind, or of a newer turngate; whatever it raises, no open file is left.
    """
    if read_only:
        how = "immutable=1" if is_immutable(path) else "mode=ro"
        link = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=30, check_same_thread=False)
    else:
        link = sqlite3.connect(path, timeout=30, check_same_thread=False, isolation_level=None)
    try:
        problem = kind.problem(link)
        if problem is not None:
            raise DamagedRun(f"cannot use {path}: {problem}")
        if not read_only:
            choose_journal(link, path)
            link.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            kind.create(link, lambda: _create_tables(link, tables))
    except BaseException:
        link.close()
        raise
    link.row_factory = sqlite3.Row
    return link


def _create_tables(link: sqlite3.Connection, tables: Tables) -> None:
    """Create every table and column that is not there yet: a ledger of an older turngate goes on."""
    for table, (model, key) in tables.items():
        definitions = {name: f"{name} {_affinity(info.annotation)}" for name, info in model.model_fields.items()}
        made = ", ".join(definitions.values())
        link.execute(f"CREATE TABLE IF NOT EXISTS {table} ({made}, PRIMARY KEY ({', '.join(key)}))")
        for name in definitions.keys() - columns(link, table):
            link.execute(f"ALTER TABLE {table} ADD COLUMN {definitions[name]}")


def encode(row: Row) -> list[Any]:
    """Column values of a row; secrets are redacted from every text."""
    return [_encode(getattr(row, name)) for name in type(row).model_fields]


def decode(model: type[Row], found: Mapping[str, Any]) -> Row:
    """A row model from column values; a column that an older turngate did not write has its default."""
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        value = found.get(name)
        if value is None:
            value = info.get_default(call_default_factory=True) if not info.is_required() else None
        else:
            value = _decode(value, info.annotation)
        values[name] = value
    return model.model_construct(**values)


def columns(link: sqlite3.Connection, table: str) -> frozenset[str]:
    """Names of a table's columns; empty when there is no such table."""
    return frozenset(row[1] for row in link.execute(f"PRAGMA table_info({table})"))


@contextmanager
def machine_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line that says what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
            raise MachineError(
                f"cannot use {path}: {error} (disk full, permissions or a network file system?)"
            ) from error
        raise DamagedRun(f"{path} is not a readable ledger: {error}; restore it from a copy") from error


def _encode(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value) if len(value) > 12 else value
    if isinstance(value, dict | list | Row):
        return redact(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))
    return value


def _plain(value: Any) -> Any:
    """Rows inside a value as mappings."""
    if isinstance(value, Row):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _decode(value: Any, annotation: Any) -> Any:
    kind = kind_of(annotation)
    if kind is bool:
        return bool(value)
    if kind is list:
        (item,), found = get_args(annotation), json.loads(value)
        return [_inner(item, one) for one in found] if isinstance(item, type) and issubclass(item, Row) else found
    if kind is dict:
        item, found = get_args(annotation)[1], json.loads(value)
        is_row = isinstance(item, type) and issubclass(item, Row)
        return {name: _inner(item, one) for name, one in found.items()} if is_row else found
    return _inner(kind, json.loads(value)) if issubclass(kind, Row) else value


def _inner(model: type[Row], found: Mapping[str, Any]) -> Row:
    """A row that was kept within another; fields of a newer turngate are left out."""
    return model.model_construct(**{name: value for name, value in found.items() if name in model.model_fields})


def kind_of(annotation: Any) -> type:
    """The plain Python type that a field holds."""
    return _kind(annotation)


@cache
def _kind(annotation: Any) -> type:
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return _kind(next(part for part in get_args(annotation) if part is not type(None)))
    if origin is Literal:
        return str
    kind: type = origin or annotation
    return kind


def _affinity(annotation: Any) -> str:
    return _AFFINITY.get(kind_of(annotation), "TEXT")


F = TypeVar("F", ScoreRow, TruthRow)


def _flagged(row: F, measure: str) -> F:
    return row.model_copy(update={"flags": flags_now(row.flags, measure, row.value)})


class LedgerReader:
    """Rows of the ledger behind an open connection, and what only run.json in `folder` says about older ones."""

    def __init__(self, link: sqlite3.Connection, folder: Path) -> None:
        self._link = link
        self._folder = folder
        self._now: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "attempts": self._attempt_now,
            "scores": self._score_now,
            "truth": self._truth_now,
            "decisions": self._decision_now,
        }

    def rows(self, table: str, model: type[R], clause: str = "", parameters: Sequence[Any] = ()) -> list[R]:
        """Rows of `table`; `clause` is what follows its name in a SELECT."""
        return [cast(R, decode(model, values)) for values in self.values(table, clause, parameters)]

    def composites(self) -> list[CompositeRow]:
        """All composites in order, those that turngate 0.1.0 kept in its decisions included."""
        own = self.rows("composites", CompositeRow) if columns(self._link, "composites") else []
        found = [*self._kept_composites(), *own]
        if self._began_before_3:
            found = [self._composite_flagged(row) for row in found]
        return sorted(found, key=lambda row: (row.turn, row.attempt))

    def _composite_flagged(self, row: CompositeRow) -> CompositeRow:
        scores = [_flagged(score, score.type) for score in row.scores]
        truth = row.truth and _flagged(row.truth, row.truth.measure)
        return row.model_copy(update={"scores": scores, "truth": truth})

    def values(self, table: str, clause: str = "", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Column values of the rows of `table`, lists and mappings as JSON text."""
        found = self._link.execute(f"SELECT * FROM {table} {clause}", parameters)  # noqa: S608 - our own constants
        now = self._now.get(table)
        return [now(dict(row)) if now else dict(row) for row in found]

    def all_values(self, table: str) -> list[dict[str, Any]]:
        """Column values of all rows of `table`, composites of older ledgers included."""
        if table != "composites":
            return self.values(table)
        names = TABLES[table][0].model_fields
        return [dict(zip(names, encode(row), strict=True)) for row in self.composites()]

    def _attempt_now(self, row: dict[str, Any]) -> dict[str, Any]:
        if row.get("metadata") is not None:
            return row
        answer = answer_now({**row, "told": json.loads(row.get("told") or "{}")})
        return {**answer, "metadata": json.dumps(answer["metadata"])}

    def _truth_now(self, row: dict[str, Any]) -> dict[str, Any]:
        if row.get("name") is not None:
            return row
        if row.get("flags") is None:
            truth = truth_now(row)
            row = {**truth, "flags": json.dumps(truth["flags"]), "components": json.dumps(truth["components"])}
        measure, value, turn = row["measure"], row["value"], row["turn"]
        flags = flags_now(json.loads(row["flags"]), measure, value, is_origin=turn == 0)
        return {**row, "name": LEADING_TRUTH, "flags": json.dumps(flags)}

    def _score_now(self, row: dict[str, Any]) -> dict[str, Any]:
        if not self._began_before_3 or row.get("status") != "scored":
            return row
        flags = flags_now(json.loads(row.get("flags") or "[]"), row["type"], row["value"])
        return {**row, "flags": json.dumps(flags)}

    def _decision_now(self, row: dict[str, Any]) -> dict[str, Any]:
        if row.get("thresholds") is not None:
            return row
        evidence = json.loads(row["evidence"])
        found = thresholds_now(evidence, self._gate_evaluator, self._directions) if evidence else {}
        return {**row, "thresholds": json.dumps(found)}

    def _kept_composites(self) -> list[CompositeRow]:
        if "composite" not in columns(self._link, "decisions"):
            return []
        kept = self._link.execute(
            "SELECT turn, attempt, at_ns, composite FROM decisions WHERE composite IS NOT NULL ORDER BY turn, attempt"
        )
        return [
            CompositeRow.model_validate(composite_now(turn, attempt, at_ns, json.loads(text)))
            for turn, attempt, at_ns, text in kept
        ]

    @cached_property
    def _began_before_3(self) -> bool:
        """The ledger was created by a turngate that knew one truth only: its scores have no flag `identical`."""
        rows = self._link.execute("PRAGMA table_info(truth)").fetchall()
        return "name" not in {row[1] for row in rows if row[5]}  # column 5: place in the primary key

    @cached_property
    def _gate_evaluator(self) -> str | None:
        try:
            return evaluator_of(json.loads((self._folder / "run.json").read_text(encoding="utf-8"))["config"]["gate"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # whoever needs run.json says what is wrong
            return None

    @cached_property
    def _directions(self) -> dict[str, str]:
        return dict(self._link.execute("SELECT evaluator, direction FROM scores GROUP BY evaluator").fetchall())
