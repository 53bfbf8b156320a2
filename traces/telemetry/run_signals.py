"""Spans, events and metrics of one run, made from the same recorded rows."""

from __future__ import annotations

from opentelemetry._logs import LoggerProvider
from opentelemetry.context import Context

from turngate.traces.records import AttemptRecord
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry.attributes import result_attributes
from turngate.traces.telemetry.content import Content
from turngate.traces.telemetry.pipeline import Providers
from turngate.traces.telemetry.place import TracePlace
from turngate.traces.telemetry.run_metrics import RunMetrics
from turngate.traces.telemetry.run_trace import RunTrace, remote_context

__all__ = ["RunSignals"]


# The events of one run: the result of every evaluation, told to the editor call that it judges.


class RunEvents:
    """One event `gen_ai.evaluation.result` per evaluation that was asked for; a skipped one has no result."""

    def __init__(self, provider: LoggerProvider, info: RunInfo, content: Content) -> None:
        self._info = info
        self._content = content
        version = info.made_with.get("packages", {}).get("turngate")
        self._logger = provider.get_logger(
            names.SCOPE, version, attributes={names.SCOPE_CONVENTIONS: names.CONVENTIONS}
        )

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
    """Hands every attempt to what is told about it."""

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
        """Take in an attempt that another process told."""
        if self._trace is not None:
            self._trace.skip(record)
        if self._metrics is not None:
            self._metrics.skip(record)

    def attempt(self, record: AttemptRecord) -> None:
        """Tell about an attempt."""
        row = record.attempt
        if self._trace is not None:
            edit: Context = self._trace.attempt(record)
        else:
            edit = remote_context(self._place.edit(row.turn, row.attempt))
        if self._events is not None:
            self._events.attempt(record, edit)
        if self._metrics is not None:
            self._metrics.attempt(record, edit)

    def end(self, status: str, reason: str | None, ended_ns: int) -> None:
        """Tell about the end of the work on the run."""
        if self._trace is not None:
            self._trace.end(status, reason, ended_ns)
