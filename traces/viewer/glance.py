"""How a run stands: the numbers of its report's first sentence, cheaply."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from turngate.errors import TurngateError
from turngate.traces.analysis.run.summary import summarise
from turngate.traces.viewer.brief import brief_view

__all__ = ["Glance", "Stamp", "glance", "stamp"]

Stamp = tuple[int, ...]
"""Changes whenever something is recorded: times and sizes of ledger, later scores and their write-ahead logs."""


@dataclass(frozen=True)
class Glance:
    """A run in a list."""

    status: str
    """As in a summary, or `unreadable`; then nothing else is known."""
    turns: int | None = None
    """Closed turns."""
    caught: int | None = None
    """Damaged candidates that were kept out; None when no truth was measured."""
    propagated: int | None = None
    """Damaged candidates that were let through; None when no truth was measured."""
    collapse_turn: int | None = None
    """None too when the run did not collapse, or no truth was measured."""
    cost_usd: float | None = None
    """Of editor and judges; None when no call reported one."""
    last: tuple[int, int] = (0, 0)
    """Turn and attempt of the last attempt; 0, 0 without one."""


def stamp(folder: Path) -> Stamp:
    """What to compare to see whether the run went on."""
    found: list[int] = []
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "scores.sqlite", "scores.sqlite-wal"):
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
        return Glance("unreadable")
    try:
        view = brief_view(folder)
        numbers = summarise(view)
    except (sqlite3.Error, TurngateError, OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return Glance("unreadable")
    last = view.attempts[-1].row if view.attempts else None
    return Glance(
        numbers.status,
        numbers.turns,
        numbers.caught,
        numbers.propagated,
        numbers.collapse_turn,
        numbers.cost_usd,
        (last.turn, last.attempt) if last else (0, 0),
    )
