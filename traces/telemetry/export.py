"""Sends a finished run again from its ledger: the same spans and events, ids and times as while it ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from turngate.errors import MachineError, ProviderError
from turngate.traces.progress import run_status
from turngate.traces.records import AttemptRecord, EventRow
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.telemetry.config import ExporterKind, Signal, TelemetryConfig, attribute_limit, chosen_exporters
from turngate.traces.telemetry.content import Content
from turngate.traces.telemetry.otlp import target
from turngate.traces.telemetry.place import TraceContext, TracePlace

if TYPE_CHECKING:
    from turngate.traces.telemetry.pipeline import Pipeline
    from turngate.traces.telemetry.run_signals import RunSignals

__all__ = ["RecordedRun", "export_run", "read_last_event", "read_past"]


@dataclass(frozen=True)
class RecordedRun:
    """What the ledger of a run already holds, as the records that telemetry is made of."""

    records: tuple[AttemptRecord, ...]
    """In order of turn and attempt."""
    started_ns: int | None
    """When the run first began, Unix nanoseconds; None before that."""
    last: EventRow | None
    """The latest `started` or `ended` event."""
    started_under: TraceContext | None
    """Trace context of whoever started the run."""


def read_past(folder: Path) -> RecordedRun:
    """Read the ledger in `folder`; raises `NoSuchRun` or `DamagedRun`."""
    ledger = RunFolder(folder).ledger()
    try:
        records, events = tuple(ledger.records()), ledger.events()
    finally:
        ledger.close()
    first = next((event for event in events if event.kind == "started"), None)
    under = TraceContext.parse(first.data) if first is not None else None
    return RecordedRun(records, first.at_ns if first is not None else None, _last(events), under)


def read_last_event(folder: Path) -> EventRow | None:
    """The latest `started` or `ended` event in the ledger in `folder`."""
    ledger = RunFolder(folder).ledger()
    try:
        return _last(ledger.events())
    finally:
        ledger.close()


def _last(events: Sequence[EventRow]) -> EventRow | None:
    return next((event for event in reversed(events) if event.kind in ("started", "ended")), None)


_FLUSH_EVERY = 500
"""Attempts. The ledger is read faster than a collector takes spans, so the queue would overflow."""


def export_run(
    path: Path, endpoint: str | None = None, *, jsonl: Path | None = None, capture_content: bool | None = None
) -> int:
    """Send the run in `path` over OTLP/HTTP to `endpoint`, or write it to the file `jsonl`; returns the spans sent.

    `endpoint` None: the standard OTEL_EXPORTER_OTLP_* variables, else http://localhost:4318. `capture_content` None: as
    the run was configured. Evaluation events go along unless OTEL_LOGS_EXPORTER is `none`; metrics do not, they are
    about a process at work. A run that still works or was interrupted is sent as far as it got. Raises `NoSuchRun`,
    `ConfigError` for an endpoint that is no URL, and `ProviderError` (for a file `MachineError`) when not every span
    was delivered; events that were not are warned about.
    """
    from turngate.traces.telemetry.pipeline import Pipeline
    from turngate.traces.telemetry.run_signals import RunSignals

    folder = RunFolder.existing(path)
    info, past = folder.info(), read_past(folder.path)
    config = _settings(info, jsonl is not None, capture_content)
    content = Content(config.capture_content, attribute_limit(config))
    if jsonl is not None:
        jsonl.unlink(missing_ok=True)
    pipeline = Pipeline(_chosen(config), jsonl or folder.path / "telemetry.jsonl", endpoint, content.limit)
    started_ns = past.started_ns or _ending(folder, past)[2]
    place = TracePlace(info.run, config.trace_per, past.started_under)
    try:
        _replay(RunSignals(pipeline.providers, folder, info, place, content, started_ns), pipeline, folder, info, past)
    finally:
        dropped = pipeline.close(config.flush_seconds)
    if dropped.spans and jsonl is not None:
        raise MachineError(f"cannot write {jsonl}: choose a file you can write to, on a disk with room")
    if dropped.spans:
        raise ProviderError(
            f"{target(endpoint, 'traces')} did not take the spans of {info.run}: check that a collector listens there"
        )
    return pipeline.channels["traces"].accepted


def _replay(signals: RunSignals, pipeline: Pipeline, folder: RunFolder, info: RunInfo, past: RecordedRun) -> None:
    inherited = info.parent.turn if info.parent is not None else 0
    for number, record in enumerate(past.records, start=1):
        if record.attempt.turn <= inherited:
            signals.skip(record)  # the parent's own trace has it
        else:
            signals.attempt(record)
        if number % _FLUSH_EVERY == 0:
            pipeline.flush()
            if pipeline.channels["traces"].dropped:
                return
    signals.end(*_ending(folder, past))
    pipeline.flush()


def _settings(info: RunInfo, to_file: bool, capture_content: bool | None) -> TelemetryConfig:
    """The run's own settings, sent now and in whole."""
    config = TelemetryConfig.model_validate(info.recorded.telemetry)
    changes: dict[str, object] = {"exporter": "jsonl" if to_file else "otlp", "signals": None}
    changes |= {} if capture_content is None else {"capture_content": capture_content}
    return config.model_copy(update=changes)


def _chosen(config: TelemetryConfig) -> dict[Signal, ExporterKind]:
    asked: ExporterKind = "jsonl" if config.exporter == "jsonl" else "otlp"
    return {**chosen_exporters(config), "traces": asked, "metrics": "none"}


def _ending(folder: RunFolder, past: RecordedRun) -> tuple[str, str | None, int, bool]:
    decisions = [record.decision for record in past.records]
    status = run_status(folder.path, decisions, [past.last] if past.last is not None else [])
    if past.last is not None and past.last.kind == "ended":
        return status, past.last.data.get("reason") or None, past.last.at_ns, past.last.data.get("broken_off", False)
    known = [decision.at_ns for decision in decisions[-1:]] + ([past.last.at_ns] if past.last is not None else [])
    return status, None, max(known, default=0), False
