"""Spans on their way out of one recorder: derived ids, a bounded queue, counted losses."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from opentelemetry.sdk.environment_variables import OTEL_BSP_MAX_QUEUE_SIZE, OTEL_BSP_SCHEDULE_DELAY
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from turngate.errors import ConfigError
from turngate.traces.telemetry._quiet import quiet
from turngate.traces.telemetry.delivery import Delivery
from turngate.traces.telemetry.derived_ids import DerivedIds

__all__ = ["QUEUE", "SpanChannel"]

QUEUE = 16384
"""Spans, or events, that wait at most, unless OTEL_BSP_MAX_QUEUE_SIZE (OTEL_BLRP_MAX_QUEUE_SIZE) says otherwise: the
SDK's 2048 are few for a simulation."""
_DELAY_MILLISECONDS = 1000
"""How long a span waits at most for others, unless OTEL_BSP_SCHEDULE_DELAY says otherwise."""


class SpanChannel:
    """A tracer provider of our own with one exporter behind a queue. `target` names it in the warning.

    Raises `ConfigError` for values of OTEL_BSP_* that do not fit together.
    """

    def __init__(self, exporter: SpanExporter, target: str, resource: Resource, limit: int) -> None:
        self.ids = DerivedIds()
        self._delivery = Delivery("spans", target, exporter.shutdown)
        self._processor = _Counted(_Delivering(exporter, self._delivery))
        self.provider = TracerProvider(
            resource=resource,
            id_generator=self.ids,
            shutdown_on_exit=False,
            span_limits=SpanLimits(max_attribute_length=limit, max_span_attribute_length=limit),
        )
        self.provider.add_span_processor(self._processor)

    @property
    def ended(self) -> int:
        """Spans that were handed over."""
        return self._processor.ended

    @property
    def lost(self) -> int:
        """Spans that the exporter could not deliver so far."""
        return self._delivery.lost

    @property
    def dropped(self) -> int:
        """Spans that were not delivered, those that a full queue threw away included; final after `close`."""
        return self._processor.ended - self._delivery.delivered

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


class _Delivering(SpanExporter):
    def __init__(self, exporter: SpanExporter, delivery: Delivery) -> None:
        self._exporter = exporter
        self._delivery = delivery

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        arrived = self._delivery.send(len(spans), lambda: self._exporter.export(spans) is SpanExportResult.SUCCESS)
        return SpanExportResult.SUCCESS if arrived else SpanExportResult.FAILURE

    def shutdown(self) -> None:
        self._delivery.shutdown()


class _Counted(BatchSpanProcessor):
    """Counts the spans it is given, those that a full queue throws away included."""

    def __init__(self, exporter: SpanExporter) -> None:
        queue = None if OTEL_BSP_MAX_QUEUE_SIZE in os.environ else QUEUE
        delay = None if OTEL_BSP_SCHEDULE_DELAY in os.environ else _DELAY_MILLISECONDS
        try:
            super().__init__(exporter, max_queue_size=queue, schedule_delay_millis=delay)
        except ValueError as error:
            raise ConfigError(f"telemetry: {error} Check the OTEL_BSP_* variables") from error
        self.ended = 0
        self._lock = threading.Lock()

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            with self._lock:
                self.ended += 1
            with quiet():
                super().on_end(span)
