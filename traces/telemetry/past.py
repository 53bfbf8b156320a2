"""What the ledger of a run already holds, as the records that telemetry is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turngate.traces.records import AttemptRecord, EventRow
from turngate.traces.run_folder import RunFolder
from turngate.traces.telemetry.trace_context import TraceContext

__all__ = ["Past", "read_last_event", "read_past"]


@dataclass(frozen=True)
class Past:
    """Everything recorded so far."""

    records: tuple[AttemptRecord, ...]
    """In order of turn and attempt."""
    started_ns: int | None
    """When the run first began, Unix nanoseconds; None before that."""
    last: EventRow | None
    """The latest `started` or `ended` event."""
    started_under: TraceContext | None
    """Trace context of whoever started the run."""


def read_past(folder: Path) -> Past:
    """Read the ledger in `folder`; raises `NoSuchRun` or `DamagedRun`."""
    ledger = RunFolder(folder).ledger()
    try:
        records, events = tuple(ledger.records()), ledger.events()
    finally:
        ledger.close()
    first = next((event for event in events if event.kind == "started"), None)
    under = TraceContext.parse(first.data) if first is not None else None
    return Past(records, first.at_ns if first is not None else None, _last(events), under)


def read_last_event(folder: Path) -> EventRow | None:
    """The latest `started` or `ended` event in the ledger in `folder`."""
    ledger = RunFolder(folder).ledger()
    try:
        return _last(ledger.events())
    finally:
        ledger.close()


def _last(events: Sequence[EventRow]) -> EventRow | None:
    return next((event for event in reversed(events) if event.kind in ("started", "ended")), None)
