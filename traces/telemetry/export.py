"""Sends a finished run again from its ledger: the same spans, ids and times as while it ran."""

from __future__ import annotations

from pathlib import Path

from turngate.errors import MachineError, ProviderError
from turngate.traces.redact import redact
from turngate.traces.run_folder import RunFolder
from turngate.traces.status import run_status
from turngate.traces.telemetry.past import Past, read_past

__all__ = ["export_run"]

_FLUSH_EVERY = 500
"""Attempts. The ledger is read faster than a collector takes spans, so the queue would overflow."""


def export_run(
    path: Path, endpoint: str | None = None, *, jsonl: Path | None = None, capture_content: bool = False
) -> int:
    """Send the run in `path` over OTLP/HTTP to `endpoint`, or write it to the file `jsonl`; returns the spans sent.

    `endpoint` None: the standard OTEL_EXPORTER_OTLP_* variables, else http://localhost:4318. A run that still works
    or was interrupted is sent as far as it got. Raises `NoSuchRun`, `ConfigError` for an endpoint that is no URL, and
    `ProviderError` (for a file `MachineError`) when not every span was taken.
    """
    from turngate.traces.telemetry.exporters import JsonLinesExporter, otlp_exporter
    from turngate.traces.telemetry.pipeline import Pipeline
    from turngate.traces.telemetry.run_trace import RunTrace

    folder = RunFolder.existing(path)
    info, past = folder.info(), read_past(folder.path)
    status, reason, ended_ns = _ending(folder, past)
    if jsonl is not None:
        jsonl.unlink(missing_ok=True)
    target = str(jsonl) if jsonl is not None else redact(endpoint or "the OTLP endpoint of the environment")
    exporter = JsonLinesExporter(jsonl) if jsonl is not None else otlp_exporter(endpoint)
    pipeline = Pipeline(exporter, target)
    try:
        started_ns = past.started_ns or ended_ns
        trace = RunTrace(pipeline.provider, pipeline.ids, info, started_ns, capture_content=capture_content)
        inherited = info.parent.turn if info.parent is not None else 0
        for number, record in enumerate(past.records, start=1):
            if record.attempt.turn <= inherited:
                trace.skip(record)  # the parent's own trace has it
            else:
                trace.attempt(record)
            if number % _FLUSH_EVERY == 0:
                pipeline.flush()
                if pipeline.lost:
                    break
        else:
            trace.end(status, reason, ended_ns)
            pipeline.flush()
    finally:
        dropped = pipeline.close(timeout_seconds=5)
    if dropped and jsonl is not None:
        raise MachineError(f"cannot write {jsonl}: choose a file you can write to, on a disk with room")
    if dropped:
        raise ProviderError(f"{target} did not take the spans of {info.run}: check that a collector listens there")
    return pipeline.ended


def _ending(folder: RunFolder, past: Past) -> tuple[str, str | None, int]:
    decisions = [record.decision for record in past.records]
    status = run_status(folder.path, decisions, [past.last] if past.last is not None else [])
    if past.last is not None and past.last.kind == "ended":
        return status, past.last.data.get("reason") or None, past.last.at_ns
    known = [decision.at_ns for decision in decisions[-1:]] + ([past.last.at_ns] if past.last is not None else [])
    return status, None, max(known, default=0)
