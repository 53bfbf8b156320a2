"""How a run stands, from a few columns of its ledger."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from turngate.errors import TurngateError
from turngate.traces._sqlite import connect
from turngate.traces.records import DecisionRow, EventRow
from turngate.traces.status import run_status

__all__ = ["Glance", "Stamp", "glance", "stamp"]

Stamp = tuple[int, ...]
"""Changes whenever something is recorded: times and sizes of the ledger and of its write-ahead log."""

_STATUS = "SELECT status_after FROM decisions ORDER BY turn DESC, attempt DESC LIMIT 1"
_EVENT = "SELECT kind, data FROM events WHERE kind IN ('started', 'ended') ORDER BY seq DESC LIMIT 1"
_COUNTS = "SELECT COALESCE(SUM(closes_turn), 0) FROM decisions"
_COST = "SELECT SUM(cost_usd), MAX(turn * 1000 + attempt) FROM attempts"


@dataclass(frozen=True)
class Glance:
    """A run in a list."""

    status: str
    turns: int
    """Closed turns."""
    cost_usd: float | None
    last: tuple[int, int] = (0, 0)
    """Turn and attempt of the last attempt; 0, 0 without one."""


def stamp(folder: Path) -> Stamp:
    """What to compare to see whether the run went on."""
    found: list[int] = []
    for name in ("ledger.sqlite", "ledger.sqlite-wal"):
        try:
            state = (folder / name).stat()
        except OSError:
            found += [0, 0]
        else:
            found += [state.st_mtime_ns, state.st_size]
    return tuple(found)


def glance(folder: Path) -> Glance:
    """Look at the run in `folder`; one that cannot be read has the status `unreadable`."""
    if (folder / "ledger.sqlite").is_symlink():  # it may lead anywhere
        return Glance("unreadable", 0, None)
    try:
        link = connect(folder / "ledger.sqlite", read_only=True, durable=False)
        try:
            decided = link.execute(_STATUS).fetchone()
            event = link.execute(_EVENT).fetchone()
            turns = link.execute(_COUNTS).fetchone()[0]
            cost, last = link.execute(_COST).fetchone()
        finally:
            link.close()
        decisions = [DecisionRow.model_construct(status_after=decided[0])] if decided else []
        events = [EventRow.model_construct(kind=event[0], data=json.loads(event[1]))] if event else []
        status = run_status(folder, decisions, events)
    except (sqlite3.Error, TurngateError, OSError, ValueError, KeyError):
        return Glance("unreadable", 0, None)
    return Glance(status, int(turns), cost, divmod(last, 1000) if last else (0, 0))
