"""SQLite beneath the ledger: tables made from the row models, errors turned into ours."""

from __future__ import annotations

import json
import sqlite3
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from turngate.errors import DamagedRun, MachineError
from turngate.traces.records import SCHEMA_VERSION, TABLES, Row
from turngate.traces.redact import redact

__all__ = ["Tables", "columns", "connect", "decode", "encode", "kind_of", "machine_errors"]

Tables = Mapping[str, tuple[type[Row], tuple[str, ...]]]
"""Table -> (row model, primary key)."""

_AFFINITY = {int: "INTEGER", bool: "INTEGER", float: "REAL", str: "TEXT"}


def connect(path: Path, *, read_only: bool, durable: bool, tables: Tables = TABLES) -> sqlite3.Connection:
    """Open the ledger (or a file of other `tables`) in WAL mode; `durable` waits for the disk on every commit.

    Raises `DamagedRun` for a ledger of a newer turngate; whatever it raises, no open file is left.
    """
    if read_only:
        # Without a write-ahead log nobody writes, and `immutable` leaves no -wal and -shm files beside a finished run.
        how = "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"
        link = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=30, check_same_thread=False)
    else:
        link = sqlite3.connect(path, timeout=30, check_same_thread=False, isolation_level=None)
    try:
        if not read_only:
            link.execute("PRAGMA journal_mode=WAL")
            link.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        version = link.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise DamagedRun(f"{path} has schema version {version}, this reads {SCHEMA_VERSION}: upgrade turngate")
        if not read_only:
            _create_tables(link, tables)
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
    if link.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:  # a run that is finished stays untouched
        link.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


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
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _decode(value: Any, annotation: Any) -> Any:
    kind = kind_of(annotation)
    if kind is bool:
        return bool(value)
    if kind is list:
        (item,), found = get_args(annotation), json.loads(value)
        return [_inner(item, one) for one in found] if isinstance(item, type) and issubclass(item, Row) else found
    if kind is dict:
        return json.loads(value)
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
