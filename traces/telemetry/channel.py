"""One signal on its way out of a recorder: a provider of our own, a bounded queue, counted losses."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.environment_variables import (
    OTEL_BLRP_MAX_QUEUE_SIZE,
    OTEL_BSP_MAX_QUEUE_SIZE,
    OTEL_BSP_SCHEDULE_DELAY,
    OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE,
)
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider, _Gauge
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.metrics.view import (
    Aggregation,
    ExplicitBucketHistogramAggregation,
    ExponentialBucketHistogramAggregation,
    View,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from turngate.traces.telemetry import names
from turngate.traces.telemetry.config import Signal
from turngate.traces.telemetry.run_metrics import SCORE_BOUNDARIES

__all__ = ["QUIET", "Channel", "DerivedIds", "Sink", "open_channel"]

_log = logging.getLogger(__name__)

_QUEUE = 16384
"""Spans, or events, that wait at most, unless OTEL_BSP_MAX_QUEUE_SIZE (OTEL_BLRP_MAX_QUEUE_SIZE) says otherwise: the
SDK's 2048 are few for a simulation."""
_DELAY_MILLISECONDS = 1000
"""How long a span waits at most for others, unless OTEL_BSP_SCHEDULE_DELAY says otherwise."""
_ITEMS: dict[Signal, tuple[str, Any]] = {
    "traces": ("spans", SpanExportResult),
    "logs": ("events", LogRecordExportResult),
    "metrics": ("metrics", MetricExportResult),
}
"""What a signal carries, and how the SDK calls the result of an export."""


class _Quiet(threading.local):
    """`with QUIET:` drops what OpenTelemetry logs in this thread meanwhile; what it logs elsewhere is kept.

    A dead collector would give a line every few seconds; a channel warns once and counts.
    """

    depth = 0

    def install(self) -> None:
        """Reach every logger of OpenTelemetry that exists by now, and urllib3's; any number of times."""
        for name, logger in list(logging.root.manager.loggerDict.items()):
            if name.startswith(("opentelemetry.", "urllib3.")) and isinstance(logger, logging.Logger):
                logger.addFilter(self)

    def filter(self, _: logging.LogRecord) -> bool:
        return not self.depth

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


QUIET = _Quiet()


@dataclass(frozen=True)
class Sink:
    """Where the batches of one signal go: a collector or a file."""

    target: str
    """Its URL or path, for people."""
    send: Callable[[Any], bool]
    """Takes a batch as the SDK hands it to an exporter; False when it was not delivered."""
    shutdown: Callable[[], object] = lambda: None
    """Ends a wait for the next try."""


class Channel(SpanExporter, LogRecordExporter, MetricExporter):
    """The exporter behind a provider of our own, for any signal.

    Hands batches on to its sink, counts what arrived, warns once, and refuses everything after `stop`.
    """

    provider: Any
    """The SDK's provider, through which spans, events or measurements get in."""

    def __init__(self, signal: Signal, sink: Sink) -> None:
        QUIET.install()
        self.accepted = 0
        """Spans, events or data points that were handed over."""
        self._delivered = 0
        self._lock = threading.Lock()
        self._items, self._result = _ITEMS[signal]
        self._sink = sink
        self._stopped = self._warned = False

    @property
    def dropped(self) -> int:
        """What was handed over and has not arrived, those that a full queue threw away included."""
        return self.accepted - self._delivered

    def accept(self) -> None:
        """Count a span or an event that is handed over."""
        with self._lock:
            self.accepted += 1

    def export(self, *batch: Any, **_: Any) -> Any:  # the SDK's three exporters name their batch differently
        """Deliver one batch; called by the SDK, from a thread of its own or from `flush`."""
        return self._deliver(batch[0], len(batch[0]))

    def _deliver(self, batch: Any, count: int) -> Any:
        if not self._stopped:
            with QUIET:
                arrived = self._sink.send(batch)
            if arrived:
                self._delivered += count
                return self._result.SUCCESS
            if not self._warned and not self._stopped:
                self._warned = True
                _log.warning("telemetry: %s takes no %s: they are lost, and counted", self._sink.target, self._items)
        return self._result.FAILURE

    def force_flush(self, timeout_millis: float = 0) -> bool:
        """Nothing waits here: the queue is the SDK's."""
        return True

    def shutdown(self, timeout_millis: float = 0, **_: object) -> None:
        """Close the sink, unless it was stopped; called by the SDK."""
        if not self._stopped:
            with QUIET:
                self._sink.shutdown()

    def flush(self) -> None:
        """Deliver what waits, in this thread, however long it takes."""
        with QUIET:
            self.provider.force_flush()

    def close(self) -> None:
        """Deliver what waits and close the sink, however long it takes."""
        with QUIET:
            self.provider.shutdown()

    def stop(self) -> None:
        """Give up what has not been delivered, and end a wait for the next try."""
        self._stopped = True
        with QUIET:
            self._sink.shutdown()


def open_channel(signal: Signal, sink: Sink, resource: Resource, limit: int) -> Channel:
    """A channel with its provider; `limit` is the longest attribute of a span in characters.

    Raises `ValueError` for OTEL_* variables that the SDK refuses.
    """
    if signal == "metrics":
        return _metric_channel(sink, resource)
    channel = Channel(signal, sink)
    if signal == "logs":
        channel.provider = LoggerProvider(resource, shutdown_on_exit=False)
        channel.provider.add_log_record_processor(_Events(channel))
    else:
        limits = SpanLimits(max_attribute_length=limit, max_span_attribute_length=limit)
        channel.provider = TracerProvider(
            resource=resource, id_generator=DerivedIds(), shutdown_on_exit=False, span_limits=limits
        )
        channel.provider.add_span_processor(_Spans(channel))
    return channel


class _Spans(BatchSpanProcessor):
    def __init__(self, channel: Channel) -> None:
        delay = None if OTEL_BSP_SCHEDULE_DELAY in os.environ else _DELAY_MILLISECONDS
        super().__init__(channel, max_queue_size=_queue(OTEL_BSP_MAX_QUEUE_SIZE), schedule_delay_millis=delay)
        self._channel = channel

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            self._channel.accept()
            with QUIET:
                super().on_end(span)


class _Events(BatchLogRecordProcessor):
    def __init__(self, channel: Channel) -> None:
        super().__init__(channel, max_queue_size=_queue(OTEL_BLRP_MAX_QUEUE_SIZE))
        self._channel = channel

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        self._channel.accept()
        with QUIET:
            super().on_emit(log_record)


def _queue(variable: str) -> int | None:
    return None if variable in os.environ else _QUEUE


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


def _metric_channel(sink: Sink, resource: Resource) -> Channel:
    histogram = os.environ.get(OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION, "").strip().lower()
    exponential = histogram == "base2_exponential_bucket_histogram"
    aggregations: dict[type, Aggregation] = {Histogram: ExponentialBucketHistogramAggregation()} if exponential else {}
    channel = _Metrics(sink, aggregations)
    # A gauge is the only instrument that takes values below zero. The scores are one, and sent as a histogram.
    scores = aggregations.get(Histogram) or ExplicitBucketHistogramAggregation(SCORE_BOUNDARIES)
    channel.provider = MeterProvider(
        [PeriodicExportingMetricReader(channel)],
        resource,
        shutdown_on_exit=False,
        views=[View(instrument_name=names.METRIC_SCORE, aggregation=scores)],
    )
    return channel


class _Metrics(Channel):
    """An export every minute and one at the end; cumulative or delta as the standard variable says."""

    def __init__(self, sink: Sink, aggregations: dict[type, Aggregation]) -> None:
        super().__init__("metrics", sink)
        preference = os.environ.get(OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, "").strip().lower()
        self._delta = preference in ("delta", "lowmemory")
        temporality = AggregationTemporality.DELTA if self._delta else AggregationTemporality.CUMULATIVE
        MetricExporter.__init__(self, dict.fromkeys((Counter, Histogram, _Gauge), temporality), aggregations)

    def export(self, *batch: Any, **_: Any) -> Any:
        """Deliver one export. A cumulative one repeats those before it, so only the latest can be lost."""
        data = _without_falling_sums(batch[0])
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
        count = sum(len(metric.data.data_points) for scope in scopes for metric in scope.metrics)
        self.accepted = count + (self.accepted if self._delta else self._delivered)
        return self._deliver(data, count)


def _without_falling_sums(data: MetricsData) -> MetricsData:
    """Histograms with values below zero lose their sum, as OTLP asks: backends take a sum for a counter."""

    def shown(metric: Any) -> Any:
        points = [replace(one, sum=None) if getattr(one, "min", 0) < 0 else one for one in metric.data.data_points]
        return replace(metric, data=replace(metric.data, data_points=points))

    found = []
    for resource in data.resource_metrics:
        scopes = [replace(scope, metrics=[shown(each) for each in scope.metrics]) for scope in resource.scope_metrics]
        found.append(replace(resource, scope_metrics=scopes))
    return replace(data, resource_metrics=found)
