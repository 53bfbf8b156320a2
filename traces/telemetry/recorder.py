"""Tells OpenTelemetry what a run recorded, while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from turngate.traces.records import AttemptRecord
from turngate.traces.redact import redact
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry.choice import chosen_exporter
from turngate.traces.telemetry.config import TelemetryConfig
from turngate.traces.telemetry.past import read_last_event, read_past

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from turngate.traces.telemetry.pipeline import Pipeline
    from turngate.traces.telemetry.run_trace import RunTrace

__all__ = ["TelemetryRecorder"]


class TelemetryRecorder:
    """Observer of a run: sends a span for everything recorded, after it was recorded, with the recorded times.

    What it sends depends on the ledger alone, so two processes that work on a run one after the other, and a later
    `export_run`, send the same spans. Nothing it does waits for a collector; `close` waits a bounded time.
    """

    def __init__(
        self,
        config: TelemetryConfig,
        folder: Path,
        *,
        endpoint: str | None = None,
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        """`folder` is the run's; it need not exist yet.

        `endpoint` overrides the standard variables. With `tracer_provider`, spans go to the application's own
        pipeline under ids of its making, and the application flushes it. Raises `ConfigError` for an endpoint or a
        variable that cannot be understood.
        """
        self.dropped = 0
        """Spans that did not arrive; known after `close`."""
        self._folder = folder
        self._capture = config.capture_content
        self._provider = tracer_provider if config.exporter != "none" else None
        self._pipeline = _pipeline(config, folder, endpoint) if tracer_provider is None else None
        self._trace: RunTrace | None = None

    @property
    def on(self) -> bool:
        """Whether anything is sent."""
        return self._pipeline is not None or self._provider is not None

    def started(self, info: RunInfo, started_ns: int) -> None:
        """The run begins or goes on; `started_ns` is when it first began, if the ledger does not say."""
        if not self.on:
            return
        past = read_past(self._folder)
        self._trace = self._new_trace(info, past.started_ns or started_ns)
        for record in past.records:
            self._trace.skip(record)

    def attempt(self, record: AttemptRecord) -> None:
        """An attempt was recorded."""
        if self._trace is not None:
            self._trace.attempt(record)

    def ended(self, status: str, reason: str | None, ended_ns: int) -> None:
        """This process's work on the run ended; `ended_ns` is when, if the ledger does not say."""
        if self._trace is None:
            return
        last = read_last_event(self._folder)
        self._trace.end(status, reason, last.at_ns if last is not None and last.kind == "ended" else ended_ns)
        self._trace = None

    def close(self, timeout_seconds: float = 5.0) -> int:
        """Send what waits, for at most `timeout_seconds`; returns `dropped`."""
        if self._pipeline is not None:
            self.dropped = self._pipeline.close(timeout_seconds)
            self._pipeline = None
        return self.dropped

    def _new_trace(self, info: RunInfo, started_ns: int) -> RunTrace:
        from turngate.traces.telemetry.run_trace import RunTrace

        if self._pipeline is not None:
            provider, ids = self._pipeline.provider, self._pipeline.ids
            return RunTrace(provider, ids, info, started_ns, capture_content=self._capture)
        assert self._provider is not None
        return RunTrace(self._provider, None, info, started_ns, capture_content=self._capture)


def _pipeline(config: TelemetryConfig, folder: Path, endpoint: str | None) -> Pipeline | None:
    kind = chosen_exporter(config)
    if kind == "none":
        return None
    from turngate.traces.telemetry.exporters import JsonLinesExporter, otlp_exporter
    from turngate.traces.telemetry.pipeline import Pipeline

    if kind == "jsonl":
        path = folder / "telemetry.jsonl"
        return Pipeline(JsonLinesExporter(path), str(path))
    return Pipeline(otlp_exporter(endpoint), redact(endpoint) if endpoint else "the OTLP endpoint")
