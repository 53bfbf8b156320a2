"""What one recorder sends through on its own: a channel per signal, one bounded end for all."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.environment_variables import (
    OTEL_BLRP_MAX_QUEUE_SIZE,
    OTEL_BSP_MAX_QUEUE_SIZE,
    OTEL_BSP_SCHEDULE_DELAY,
)
from opentelemetry.sdk.metrics import Counter, MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from turngate.errors import ConfigError
from turngate.traces.telemetry import names, otlp
from turngate.traces.telemetry.config import ExporterKind, Signal
from turngate.traces.telemetry.jsonl import EventLines, LinesFile, MetricLines, SpanLines
from turngate.traces.telemetry.place import DerivedIds

if TYPE_CHECKING:
    from opentelemetry import _logs, metrics, trace

__all__ = ["Dropped", "Pipeline", "Providers", "application_providers", "install", "quiet"]


# Keeps the SDK's log lines about our own exports off the screen; those about the application's own stay.

_LOGGERS = (
    "opentelemetry.exporter.otlp.proto.http._log_exporter",
    "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.sdk._logs._internal.export",
    "opentelemetry.sdk._shared_internal",
    "opentelemetry.sdk.metrics._internal",
    "opentelemetry.sdk.metrics._internal.export",
    "opentelemetry.sdk.trace.export",
    "urllib3.connectionpool",
)


class _OurThreads(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self.inside = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(self.inside, "depth", 0)


_FILTER = _OurThreads()


def install() -> None:
    """Make `quiet` work; any number of times."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what these loggers say in this thread meanwhile: a dead collector would give a line every few seconds."""
    depth = getattr(_FILTER.inside, "depth", 0)
    _FILTER.inside.depth = depth + 1
    try:
        yield
    finally:
        _FILTER.inside.depth = depth


# One exporter on its way out: counted, quiet, and able to give up.

_log = logging.getLogger(__name__)


class Delivery:
    """Counts what an exporter took and lost, warns once, and refuses everything after `stop`.

    `what` is what it carries ("spans"), `target` where to, `shutdown` the exporter's own.
    """

    def __init__(self, what: str, target: str, shutdown: Callable[[], object]) -> None:
        install()
        self.delivered = 0
        self.lost = 0
        """What was handed over and has not arrived; see `send`."""
        self._what = what
        self._target = target
        self._shutdown = shutdown
        self._stopped = False
        self._warned = False

    def send(self, count: int, export: Callable[[], bool], *, supersedes: bool = False) -> bool:
        """Run `export`, which carries `count` items and says whether they arrived.

        With `supersedes` this export repeats what those before it carried: only the latest can be lost.
        """
        self.lost = count if supersedes else self.lost + count  # until it has arrived
        if not self._stopped:
            with quiet():
                arrived = export()
            if arrived:
                self.delivered += count
                self.lost -= count
                return True
        if not self._warned and not self._stopped:
            self._warned = True
            _log.warning("telemetry: %s takes no %s: they are lost, and counted", self._target, self._what)
        return False

    def stop(self) -> None:
        """Refuse everything from now on and end a wait for the next try."""
        self._stopped = True
        with quiet():
            self._shutdown()

    def shutdown(self) -> None:
        """Close the exporter, unless it was stopped."""
        if not self._stopped:
            with quiet():
                self._shutdown()


# Spans on their way out of one recorder: derived ids, a bounded queue, counted losses.

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


# Evaluation events on their way out of one recorder: a bounded queue, counted losses.


class EventChannel:
    """A logger provider of our own with one exporter behind a queue. `target` names it in the warning.

    Raises `ConfigError` for values of OTEL_BLRP_* that do not fit together.
    """

    def __init__(self, exporter: LogRecordExporter, target: str, resource: Resource) -> None:
        self._delivery = Delivery("events", target, exporter.shutdown)
        self._processor = _EventChannelCounted(_EventChannelDelivering(exporter, self._delivery))
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


class _EventChannelDelivering(LogRecordExporter):
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


class _EventChannelCounted(BatchLogRecordProcessor):
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


# Metrics on their way out of one recorder: an export every minute and one at the end, counted losses.


class MetricChannel:
    """A meter provider of our own with one exporter. `target` names it in the warning.

    Raises `ConfigError` for a value of OTEL_METRIC_EXPORT_INTERVAL that is no interval.
    """

    def __init__(self, exporter: MetricExporter, target: str, resource: Resource) -> None:
        self._delivery = Delivery("metrics", target, exporter.shutdown)
        try:
            reader = PeriodicExportingMetricReader(_MetricChannelDelivering(exporter, self._delivery))
        except ValueError as error:
            raise ConfigError(f"telemetry: {error}: check OTEL_METRIC_EXPORT_INTERVAL") from error
        self.provider = MeterProvider([reader], resource, shutdown_on_exit=False)

    @property
    def dropped(self) -> int:
        """Data points that were not delivered; final after `close`."""
        return self._delivery.lost

    def close(self) -> None:
        """Deliver the last values and close the exporter, however long it takes."""
        with quiet():
            self.provider.shutdown()

    def stop(self) -> None:
        """Give up what has not been delivered."""
        self._delivery.stop()


class _MetricChannelDelivering(MetricExporter):
    def __init__(self, exporter: MetricExporter, delivery: Delivery) -> None:
        # The SDK's reader asks these two of whatever exporter it gets; there is no public way to them.
        temporality, aggregation = exporter._preferred_temporality, exporter._preferred_aggregation
        super().__init__(temporality, aggregation)
        self._exporter = exporter
        self._delivery = delivery
        self._cumulative = (temporality or {}).get(Counter) is not AggregationTemporality.DELTA

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **_: object) -> MetricExportResult:
        arrived = self._delivery.send(
            _points(metrics_data),
            lambda: self._exporter.export(metrics_data, timeout_millis) is MetricExportResult.SUCCESS,
            supersedes=self._cumulative,
        )
        return MetricExportResult.SUCCESS if arrived else MetricExportResult.FAILURE

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **_: object) -> None:
        self._delivery.shutdown()


def _points(data: MetricsData) -> int:
    return sum(
        len(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    )


# What telemetry could not deliver.


@dataclass(frozen=True)
class Dropped:
    """How much of each signal never arrived; zero everywhere where nothing was sent."""

    spans: int = 0
    events: int = 0
    """Evaluation events."""
    points: int = 0
    """Data points of metrics. Where metrics are cumulative, those of the last export: it repeats the ones before."""

    def __bool__(self) -> bool:
        return bool(self.spans or self.events or self.points)

    def __str__(self) -> str:
        counts = {"spans": self.spans, "events": self.events, "metric points": self.points}
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing"


# To whom a run is told: providers of our own, or those of the application that turngate is part of.


@dataclass(frozen=True)
class Providers:
    """One per signal; None: that signal is not sent."""

    tracer: trace.TracerProvider | None = None
    logger: _logs.LoggerProvider | None = None
    meter: metrics.MeterProvider | None = None
    ids: DerivedIds | None = None
    """Set with a tracer provider of our own: ids are derived from run, turn and attempt."""

    def __bool__(self) -> bool:
        return any(one is not None for one in (self.tracer, self.logger, self.meter))


def application_providers(signals: Collection[Signal] | None = None) -> Providers:
    """What the application has set as OpenTelemetry's global providers, for `signals` (None: all). Loads nothing."""
    wanted = get_args(Signal) if signals is None else signals
    return Providers(
        tracer=_set("opentelemetry.trace", "get_tracer_provider") if "traces" in wanted else None,
        logger=_set("opentelemetry._logs", "get_logger_provider") if "logs" in wanted else None,
        meter=_set("opentelemetry.metrics", "get_meter_provider") if "metrics" in wanted else None,
    )


def _set(module: str, getter: str) -> Any:
    api = sys.modules.get(module)
    if api is None:  # nobody can have set one
        return None
    provider = getattr(api, getter)()
    # The API's own classes are placeholders, whatever they are called.
    return None if type(provider).__module__.startswith(module) else provider


class Pipeline:
    """Channels for the signals that have an exporter in `chosen`.

    `file` is where `jsonl` writes, `endpoint` where `otlp` sends (None: the standard variables), `limit` the longest
    attribute of a span in characters. Raises `ConfigError` for an endpoint or a variable that cannot be understood.
    """

    def __init__(self, chosen: dict[Signal, ExporterKind], file: Path, endpoint: str | None, limit: int) -> None:
        self.spans: SpanChannel | None = None
        self.events: EventChannel | None = None
        self.metrics: MetricChannel | None = None
        try:
            self._open(chosen, LinesFile(file), endpoint, limit)
        except ValueError as error:  # the SDK's own words about a variable of its own
            raise ConfigError(f"telemetry: {error}: mend or unset that variable") from error

    @property
    def channels(self) -> list[SpanChannel | EventChannel | MetricChannel]:
        """Those that are open."""
        return [channel for channel in (self.spans, self.events, self.metrics) if channel is not None]

    @property
    def providers(self) -> Providers:
        """Through which spans, events and metrics get in."""
        return Providers(
            self.spans.provider if self.spans else None,
            self.events.provider if self.events else None,
            self.metrics.provider if self.metrics else None,
            self.spans.ids if self.spans else None,
        )

    def _open(self, chosen: dict[Signal, ExporterKind], lines: LinesFile, endpoint: str | None, limit: int) -> None:
        resource, file = _resource(), str(lines.path)
        match chosen["traces"]:
            case "jsonl":
                self.spans = SpanChannel(SpanLines(lines), file, resource, limit)
            case "otlp":
                where = otlp.target(endpoint, "traces")
                self.spans = SpanChannel(otlp.span_exporter(endpoint), where, resource, limit)
        match chosen["logs"]:
            case "jsonl":
                self.events = EventChannel(EventLines(lines), file, resource)
            case "otlp":
                self.events = EventChannel(otlp.event_exporter(endpoint), otlp.target(endpoint, "logs"), resource)
        match chosen["metrics"]:
            case "jsonl":
                self.metrics = MetricChannel(MetricLines(lines), file, resource)
            case "otlp":
                where = otlp.target(endpoint, "metrics")
                self.metrics = MetricChannel(otlp.metric_exporter(endpoint), where, resource)

    def flush(self) -> None:
        """Deliver the spans and events that wait, in this thread, however long it takes."""
        for channel in (self.spans, self.events):
            if channel is not None:
                channel.flush()

    def close(self, timeout_seconds: float) -> Dropped:
        """Deliver what waits, for at most `timeout_seconds`; says what was not delivered in all."""
        # The SDK's own flush knows no limit, and its shutdown waits up to 30 s for a request that hangs.
        began, closers = time.monotonic(), []
        for channel in self.channels:
            closer = threading.Thread(target=channel.close, name="turngate-telemetry-close", daemon=True)
            closer.start()
            closers.append((channel, closer))
        for _, closer in closers:
            closer.join(max(0.0, began + 0.9 * timeout_seconds - time.monotonic()))
        late = [(channel, closer) for channel, closer in closers if closer.is_alive()]
        for channel, _ in late:
            channel.stop()
        for _, closer in late:
            closer.join(max(0.0, began + timeout_seconds - time.monotonic()))
        return Dropped(
            self.spans.dropped if self.spans else 0,
            self.events.dropped if self.events else 0,
            self.metrics.dropped if self.metrics else 0,
        )


def _resource() -> Resource:
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):  # no OTEL_SERVICE_NAME
        resource = resource.merge(Resource({SERVICE_NAME: names.SCOPE}))
    if SERVICE_INSTANCE_ID not in OTELResourceDetector().detect().attributes:  # the SDK's own is one per process
        # Two runs side by side would otherwise write one and the same metric.
        resource = resource.merge(Resource({SERVICE_INSTANCE_ID: str(uuid.uuid4())}))
    return resource
