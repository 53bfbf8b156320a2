"""Evaluation events on their way out of one recorder: a bounded queue, counted losses."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.environment_variables import OTEL_BLRP_MAX_QUEUE_SIZE
from opentelemetry.sdk.resources import Resource

from turngate.errors import ConfigError
from turngate.traces.telemetry._quiet import quiet
from turngate.traces.telemetry.delivery import Delivery
from turngate.traces.telemetry.span_channel import QUEUE

__all__ = ["EventChannel"]


class EventChannel:
    """A logger provider of our own with one exporter behind a queue. `target` names it in the warning.

    Raises `ConfigError` for values of OTEL_BLRP_* that do not fit together.
    """

    def __init__(self, exporter: LogRecordExporter, target: str, resource: Resource) -> None:
        self._delivery = Delivery("events", target, exporter.shutdown)
        self._processor = _Counted(_Delivering(exporter, self._delivery))
        self.provider = LoggerProvider(resource, shutdown_on_exit=False)
        self.provider.add_log_record_processor(self._processor)

    @property
    def dropped(self) -> int:
        """Events that were not delivered, those that a full queue threw away included; final after `close`."""
        return self._processor.emitted - self._delivery.delivered

    def flush(self) -> None:
        """Deliver what waits, in this thread, however long it takes."""
        with quiet():
            self._processor.force_flush()

    def close(self) -> None:
        """Deliver what waits and close the exporter, however long it takes."""
        with quiet():
            self.provider.shutdown()

    def stop(self) -> None:
        """Give up what has not been delivered."""
        self._delivery.stop()


class _Delivering(LogRecordExporter):
    def __init__(self, exporter: LogRecordExporter, delivery: Delivery) -> None:
        self._exporter = exporter
        self._delivery = delivery

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        arrived = self._delivery.send(len(batch), lambda: self._exporter.export(batch) is LogRecordExportResult.SUCCESS)
        return LogRecordExportResult.SUCCESS if arrived else LogRecordExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._delivery.shutdown()


class _Counted(BatchLogRecordProcessor):
    """Counts the events it is given, those that a full queue throws away included."""

    def __init__(self, exporter: LogRecordExporter) -> None:
        queue = None if OTEL_BLRP_MAX_QUEUE_SIZE in os.environ else QUEUE
        try:
            super().__init__(exporter, max_queue_size=queue)
        except ValueError as error:
            raise ConfigError(f"telemetry: {error} Check the OTEL_BLRP_* variables") from error
        self.emitted = 0
        self._lock = threading.Lock()

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        with self._lock:
            self.emitted += 1
        with quiet():
            super().on_emit(log_record)
