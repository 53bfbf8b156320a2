"""One event as OTLP/JSON."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk._logs import ReadableLogRecord

from turngate.traces.telemetry._json_values import attributes_json, resource_json, scope_json

__all__ = ["logs_data"]


def logs_data(event: ReadableLogRecord) -> dict[str, Any]:
    """A `LogsData` message that holds this event."""
    record = event.log_record
    found: dict[str, Any] = {
        "timeUnixNano": str(record.timestamp or 0),
        "observedTimeUnixNano": str(record.observed_timestamp or 0),
        "eventName": record.event_name or "",
        "attributes": attributes_json(record.attributes),
    }
    if record.trace_id and record.span_id:
        found |= {"traceId": f"{record.trace_id:032x}", "spanId": f"{record.span_id:016x}"}
        found["flags"] = int(record.trace_flags or 0)
    scope = {"scope": scope_json(event.instrumentation_scope), "logRecords": [found]}
    return {"resourceLogs": [{"resource": resource_json(event.resource), "scopeLogs": [scope]}]}
