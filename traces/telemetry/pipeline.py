"""What one recorder sends through on its own: a channel per signal, one bounded end for all."""

from __future__ import annotations

import threading
import time
import uuid
from pathlib import Path

from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, OTELResourceDetector, Resource

from turngate.errors import ConfigError
from turngate.traces.telemetry import names, otlp
from turngate.traces.telemetry.choice import ExporterKind
from turngate.traces.telemetry.config import Signal
from turngate.traces.telemetry.dropped import Dropped
from turngate.traces.telemetry.event_channel import EventChannel
from turngate.traces.telemetry.jsonl import EventLines, LinesFile, MetricLines, SpanLines
from turngate.traces.telemetry.metric_channel import MetricChannel
from turngate.traces.telemetry.providers import Providers
from turngate.traces.telemetry.span_channel import SpanChannel

__all__ = ["Pipeline"]


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
