"""A JSON lines file in OTLP's own JSON form, which collectors can read: a span, an event or an export of metrics a
line."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from opentelemetry.sdk import metrics
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.environment_variables import OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link

__all__ = ["EventLines", "LinesFile", "MetricLines", "SpanLines"]


# Attributes, resources and scopes as OTLP/JSON: 64-bit integers as strings, ids in hex, enums as numbers.

_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def attributes_json(attributes: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """A list of `KeyValue`."""
    return [{"key": key, "value": _value(value)} for key, value in (attributes or {}).items()]


def resource_json(resource: Resource) -> dict[str, Any]:
    """A `Resource`."""
    return {"attributes": attributes_json(resource.attributes)}


def scope_json(scope: InstrumentationScope | None) -> dict[str, Any]:
    """An `InstrumentationScope`."""
    if scope is None:
        return {}
    return {"name": scope.name, "version": scope.version or "", "attributes": attributes_json(scope.attributes)}


def number_json(value: float) -> float | str:
    """A double; JSON has no infinity."""
    return value if math.isfinite(value) else _WORDS[str(value)]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": number_json(value)}
    if isinstance(value, Sequence):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


# One span as OTLP/JSON. Written by hand: through the SDK's protobuf message it takes about eight times as long.


def traces_data(span: ReadableSpan) -> dict[str, Any]:
    """A `TracesData` message that holds this span."""
    scope = {"scope": scope_json(span.instrumentation_scope), "spans": [_span(span)]}
    return {"resourceSpans": [{"resource": resource_json(span.resource), "scopeSpans": [scope]}]}


def _span(span: ReadableSpan) -> dict[str, Any]:
    context = span.get_span_context()
    status: dict[str, Any] = {"code": span.status.status_code.value}
    if span.status.description:
        status["message"] = span.status.description
    found: dict[str, Any] = {
        "traceId": f"{context.trace_id:032x}" if context else "",
        "spanId": f"{context.span_id:016x}" if context else "",
        "name": span.name,
        "kind": span.kind.value + 1,  # OTLP keeps 0 for "unspecified"
        "startTimeUnixNano": str(span.start_time or 0),
        "endTimeUnixNano": str(span.end_time or 0),
        "attributes": attributes_json(span.attributes),
        "status": status,
    }
    if span.parent is not None:
        found["parentSpanId"] = f"{span.parent.span_id:016x}"
    if span.links:
        found["links"] = [_link(link) for link in span.links]
    return found


def _link(link: Link) -> dict[str, Any]:
    return {
        "traceId": f"{link.context.trace_id:032x}",
        "spanId": f"{link.context.span_id:016x}",
        "attributes": attributes_json(link.attributes),
    }


# One event as OTLP/JSON.


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


# One export of metrics as OTLP/JSON: sums and histograms, the two kinds that are recorded here.


def metrics_data_json(data: MetricsData) -> dict[str, Any]:
    """A `MetricsData` message. Exemplars are left out: the file has the spans themselves."""
    return {
        "resourceMetrics": [
            {
                "resource": resource_json(resource.resource),
                "scopeMetrics": [
                    {"scope": scope_json(scope.scope), "metrics": [_metric(metric) for metric in scope.metrics]}
                    for scope in resource.scope_metrics
                ],
            }
            for resource in data.resource_metrics
        ]
    }


def _metric(metric: Metric) -> dict[str, Any]:
    found: dict[str, Any] = {"name": metric.name, "description": metric.description or "", "unit": metric.unit or ""}
    match metric.data:
        case Sum(points, temporality, is_monotonic):
            found["sum"] = {
                "aggregationTemporality": temporality.value,
                "isMonotonic": is_monotonic,
                "dataPoints": [_number(point) for point in points],
            }
        case Histogram(points, temporality):
            found["histogram"] = {
                "aggregationTemporality": temporality.value,
                "dataPoints": [_distribution(point) for point in points],
            }
    return found


def _number(point: NumberDataPoint) -> dict[str, Any]:
    value = {"asInt": str(point.value)} if isinstance(point.value, int) else {"asDouble": number_json(point.value)}
    return {**_point(point), **value}


def _distribution(point: HistogramDataPoint) -> dict[str, Any]:
    return {
        **_point(point),
        "count": str(point.count),
        "sum": number_json(point.sum),
        "min": number_json(point.min),
        "max": number_json(point.max),
        "bucketCounts": [str(count) for count in point.bucket_counts],
        "explicitBounds": list(point.explicit_bounds),
    }


def _point(point: NumberDataPoint | HistogramDataPoint) -> dict[str, Any]:
    return {
        "attributes": attributes_json(point.attributes),
        "startTimeUnixNano": str(point.start_time_unix_nano),
        "timeUnixNano": str(point.time_unix_nano),
    }


class LinesFile:
    """Appends whole lines; any number of threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def append(self, messages: Iterable[dict[str, Any]]) -> bool:
        """Write one line per message; False when the file cannot be written."""
        lines = [json.dumps(message, ensure_ascii=False) + "\n" for message in messages]
        try:
            with self._lock:
                torn = _ends_in_mid_line(self.path)
                with self.path.open("a", encoding="utf-8") as file:
                    file.writelines(["\n", *lines] if torn else lines)
        except OSError:
            return False
        return True


class SpanLines(SpanExporter):
    """One line per span: a `TracesData` message."""

    def __init__(self, file: LinesFile) -> None:
        self._file = file

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write `spans`."""
        written = self._file.append(traces_data(span) for span in spans)
        return SpanExportResult.SUCCESS if written else SpanExportResult.FAILURE


class EventLines(LogRecordExporter):
    """One line per event: a `LogsData` message."""

    def __init__(self, file: LinesFile) -> None:
        self._file = file

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Write `batch`."""
        written = self._file.append(logs_data(record) for record in batch)
        return LogRecordExportResult.SUCCESS if written else LogRecordExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Nothing waits here."""
        return True

    def shutdown(self) -> None:
        """Nothing is open."""


class MetricLines(MetricExporter):
    """One line per export: a `MetricsData` message; cumulative or delta as the standard variable says."""

    def __init__(self, file: LinesFile) -> None:
        preference = os.environ.get(OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, "").strip().lower()
        delta = preference in ("delta", "lowmemory")
        temporality = AggregationTemporality.DELTA if delta else AggregationTemporality.CUMULATIVE
        super().__init__({metrics.Counter: temporality, metrics.Histogram: temporality})
        self._file = file

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **_: object) -> MetricExportResult:
        """Write `metrics_data`."""
        written = self._file.append([metrics_data_json(metrics_data)])
        return MetricExportResult.SUCCESS if written else MetricExportResult.FAILURE

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        """Nothing waits here."""
        return True

    def shutdown(self, timeout_millis: float = 30_000, **_: object) -> None:
        """Nothing is open."""


def _ends_in_mid_line(path: Path) -> bool:
    """A process that was killed while it wrote leaves half a line."""
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:
        return False
