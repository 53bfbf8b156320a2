"""Which SQLite files are ours: each kind has a number of its own in the file's header, and a version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["SqliteKind"]


@dataclass(frozen=True)
class SqliteKind:
    """One kind of file."""

    name: str
    """In messages: `ledger`, ..."""
    application_id: int
    """SQLite's `application_id`: four bytes of ASCII, `TG` and two more."""
    version: int
    """SQLite's `user_version`; a newer one is refused."""
    tables: frozenset[str]
    """All tables of the current version."""
    legacy: str = ""
    """Table by which a file is known that was written before it had an `application_id`; empty where there is none."""

    def problem(self, link: sqlite3.Connection) -> str | None:
        """Why a file is not of this kind, in a few words; None for one that is, or is empty. The file is only read."""
        link.execute("BEGIN")  # one moment for all that is read: another process may be creating the tables
        try:
            (identity,) = link.execute("PRAGMA application_id").fetchone()
            (version,) = link.execute("PRAGMA user_version").fetchone()
            tables = {row[0] for row in link.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        finally:
            link.execute("ROLLBACK")
        is_legacy = identity == 0 and tables <= self.tables and (not tables or self.legacy in tables)
        if identity != self.application_id and not is_legacy:
            return f"it is not a {self.name} of turngate but another database"
        if version > self.version:
            return f"it has schema version {version}, this reads up to {self.version}: upgrade turngate"
        return None

    def create(self, link: sqlite3.Connection, make: Callable[[], object]) -> None:
        """`make` the tables that are missing and write number and version into the header, in one transaction."""
        link.execute("BEGIN IMMEDIATE")
        try:
            make()
            for name, value in (("application_id", self.application_id), ("user_version", self.version)):
                if link.execute(f"PRAGMA {name}").fetchone()[0] != value:  # a run that is finished stays untouched
                    link.execute(f"PRAGMA {name}={value}")
        except BaseException:
            link.execute("ROLLBACK")
            raise
        link.execute("COMMIT")
