"""SQLite files of ours: each kind has a number of its own in the file's header, and a version; their journals."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SqliteKind", "choose_journal", "is_immutable", "mounted_as"]


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


# A write-ahead log is memory that processes share: it cannot work where they are on several machines.

_SHARED = re.compile(r"nfs|cifs|smb|9p|afs|lustre|gpfs|beegfs|ceph|gluster|orangefs|virtiofs|fuse\.(?!fuse-overlayfs)")
"""Types of file systems that several machines may have at once, by how they begin."""


def choose_journal(link: sqlite3.Connection, path: Path) -> None:
    """A write-ahead log for the database at `path`; on a file system that machines share, or without one, a journal.

    See https://sqlite.org/wal.html: all processes that use a write-ahead log must be on one machine.
    """
    link.execute(f"PRAGMA journal_mode={'DELETE' if _SHARED.match(mounted_as(path)) else 'WAL'}")


def is_immutable(path: Path) -> bool:
    """Nobody writes the database at `path`, and nothing is left to be done: it has a write-ahead log, and that is gone.

    A reader that knows so leaves no files beside it, and can read where nothing can be written.
    """
    try:
        if path.with_name(f"{path.name}-wal").exists():
            return False
        with path.open("rb") as file:
            return file.read(20)[18:20] == b"\2\2"  # see https://sqlite.org/fileformat.html: written with such a log
    except OSError:
        return False


def mounted_as(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """Type of the file system that holds `path`, `ext4` or `nfs4`; empty where the machine does not say (not Linux)."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    found, longest = "", -1
    whole = path.resolve()
    for line in lines:
        before, _, after = line.partition(" - ")
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), before.split(" ")[4]))
        if whole.is_relative_to(point) and len(point.parts) >= longest:  # the latest of two mounts at one place is seen
            found, longest = after.split(" ")[0], len(point.parts)
    return found
