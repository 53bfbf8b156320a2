"""Spans, events and metrics of one run, made from the same recorded rows."""

from __future__ import annotations

from opentelemetry._logs import LoggerProvider
from opentelemetry.context import Context

from turngate.traces.records import AttemptRecord
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry.attributes import result_attributes, scoped
from turngate.traces.telemetry.content import Content
from turngate.traces.telemetry.place import TracePlace
from turngate.traces.telemetry.providers import Providers
from turngate.traces.telemetry.run_metrics import RunMetrics
from turngate.traces.telemetry.run_trace import RunTrace, remote_context

__all__ = ["RunSignals"]


class RunEvents:
    """One event `gen_ai.evaluation.result` per evaluation, its parent the editor call; none for a skipped one."""

    def __init__(self, provider: LoggerProvider, info: RunInfo, content: Content) -> None:
        self._info = info
        self._content = content
        self._logger = scoped(provider.get_logger, info)

    def attempt(self, record: AttemptRecord, edit: Context) -> None:
        """Send the events of an attempt; `edit` holds the span of its editor call."""
        for row in record.scores:
            if row.status != "skipped":
                self._logger.emit(
                    timestamp=row.ended_ns,
                    observed_timestamp=row.ended_ns,
                    context=edit,
                    event_name=names.EVENT_EVALUATION,
                    attributes=result_attributes(self._info, record.attempt, row, self._content),
                )


class RunSignals:
    """Hands every attempt on to the signals that have a provider."""

    def __init__(
        self,
        providers: Providers,
        folder: RunFolder,
        info: RunInfo,
        place: TracePlace,
        content: Content,
        started_ns: int,
    ) -> None:
        self._place = place
        self._trace = None
        if providers.tracer is not None:
            self._trace = RunTrace(providers.tracer, providers.ids, info, place, content, folder.images, started_ns)
        self._events = RunEvents(providers.logger, info, content) if providers.logger is not None else None
        self._metrics = RunMetrics(providers.meter, info) if providers.meter is not None else None

    def skip(self, record: AttemptRecord) -> None:
        """Take in an attempt that another process sent."""
        if self._trace is not None:
            self._trace.skip(record)
        if self._metrics is not None:
            self._metrics.skip(record)

    def attempt(self, record: AttemptRecord) -> None:
        """Send an attempt."""
        row = record.attempt
        if self._trace is not None:
            edit: Context = self._trace.attempt(record)
        else:
            edit = remote_context(self._place.edit(row.turn, row.attempt))
        if self._events is not None:
            self._events.attempt(record, edit)
        if self._metrics is not None:
            self._metrics.attempt(record, edit)

    def end(self, status: str, reason: str | None, ended_ns: int, broken_off: bool) -> None:
        """Send the end of the work on the run."""
        if self._trace is not None:
            self._trace.end(status, reason, ended_ns, broken_off)
