"""Spans on their way out of one recorder: derived ids, a bounded queue, counted losses, a bounded end."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence

from opentelemetry.sdk.environment_variables import OTEL_BSP_MAX_QUEUE_SIZE, OTEL_BSP_SCHEDULE_DELAY
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from turngate.errors import ConfigError
from turngate.traces.telemetry import names
from turngate.traces.telemetry._quiet import install, quiet
from turngate.traces.telemetry.content import MAX_BYTES

__all__ = ["DerivedIds", "Pipeline"]

_QUEUE = 16384
"""Spans that wait at most, unless OTEL_BSP_MAX_QUEUE_SIZE says otherwise: the SDK's 2048 are few for a simulation."""
_DELAY_MILLISECONDS = 1000
"""How long a span waits at most for others, unless OTEL_BSP_SCHEDULE_DELAY says otherwise."""

_log = logging.getLogger(__name__)


class DerivedIds(RandomIdGenerator):
    """Hands out the ids that were asked for in this thread, once; random ones otherwise."""

    def __init__(self) -> None:
        self._wanted = threading.local()

    def want(self, trace: int, span: int) -> None:
        """The next span started in this thread gets these ids (as a child it takes its parent's trace id)."""
        self._wanted.trace, self._wanted.span = trace, span

    def generate_trace_id(self) -> int:
        """128-bit id; a sampler that looks at the trace id thus decides alike in every process of a run."""
        trace: int | None = getattr(self._wanted, "trace", None)
        return super().generate_trace_id() if trace is None else trace

    def generate_span_id(self) -> int:
        """64-bit id."""
        span: int | None = getattr(self._wanted, "span", None)
        self._wanted.trace = self._wanted.span = None
        return super().generate_span_id() if span is None else span


class Pipeline:
    """A tracer provider of our own with one exporter behind a queue. `target` names it in the warning.

    Raises `ConfigError` for values of OTEL_BSP_* that do not fit together.
    """

    def __init__(self, exporter: SpanExporter, target: str) -> None:
        install()
        self.ids = DerivedIds()
        self._delivery = _Delivery(exporter, target)
        self._processor = _Counted(self._delivery)
        self.provider = TracerProvider(
            resource=_resource(),
            id_generator=self.ids,
            shutdown_on_exit=False,
            span_limits=SpanLimits(max_attribute_length=MAX_BYTES, max_span_attribute_length=MAX_BYTES),
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

    def flush(self) -> None:
        """Deliver what waits, in this thread, however long it takes."""
        with quiet():
            self._processor.force_flush()

    def close(self, timeout_seconds: float) -> int:
        """Deliver what waits, for at most `timeout_seconds`; returns how many spans were not delivered in all."""
        # The SDK's own flush knows no limit, and its shutdown waits up to 30 s for a request that hangs.
        closer = threading.Thread(target=self._processor.shutdown, name="turngate-telemetry-close", daemon=True)
        closer.start()
        closer.join(timeout_seconds * 0.9)
        if closer.is_alive():
            self._delivery.stop()
            closer.join(timeout_seconds * 0.1)
        return self._processor.ended - self._delivery.delivered


class _Delivery(SpanExporter):
    """The exporter, with a count of what arrived, one warning, and a way to give up."""

    def __init__(self, exporter: SpanExporter, target: str) -> None:
        self.delivered = 0
        self.lost = 0
        self._exporter = exporter
        self._target = target
        self._stopped = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._stopped:
            return SpanExportResult.FAILURE
        with quiet():
            result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self.delivered += len(spans)
        else:
            self.lost += len(spans)
            if self.lost == len(spans):
                _log.warning("telemetry: %s takes no spans; the run goes on and counts what is lost", self._target)
        return result

    def stop(self) -> None:
        """Refuse all further batches and end a wait for the next try."""
        self._stopped = True
        with quiet():
            self._exporter.shutdown()

    def shutdown(self) -> None:
        with quiet():
            if not self._stopped:
                self._exporter.shutdown()


class _Counted(BatchSpanProcessor):
    """Counts the spans it is given, those that a full queue throws away included."""

    def __init__(self, exporter: SpanExporter) -> None:
        queue = None if OTEL_BSP_MAX_QUEUE_SIZE in os.environ else _QUEUE
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


def _resource() -> Resource:
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):  # no OTEL_SERVICE_NAME
        resource = resource.merge(Resource({SERVICE_NAME: names.SCOPE}))
    return resource
