"""A JSON lines file in OTLP's own JSON form, which collectors can read: a span, an event or an export of metrics a
line."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.environment_variables import OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE
from opentelemetry.sdk.metrics import Counter, Histogram
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    MetricExporter,
    MetricExportResult,
    MetricsData,
)
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from turngate.traces.telemetry._event_json import logs_data
from turngate.traces.telemetry._metric_json import metrics_data_json
from turngate.traces.telemetry._span_json import traces_data

__all__ = ["EventLines", "LinesFile", "MetricLines", "SpanLines"]


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
        super().__init__({Counter: temporality, Histogram: temporality})
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
