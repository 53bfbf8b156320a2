"""The events of one run: the result of every evaluation, told to the editor call that it judges."""

from __future__ import annotations

from opentelemetry._logs import LoggerProvider
from opentelemetry.context import Context

from turngate.traces.records import AttemptRecord
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry.content import Content
from turngate.traces.telemetry.evaluation_attributes import result_attributes

__all__ = ["RunEvents"]


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
