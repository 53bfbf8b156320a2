"""The pipeline of a recorder that uses no providers of the application: a channel per signal, one bounded end."""

from __future__ import annotations

import threading
import time
import uuid
from pathlib import Path
from typing import Any

from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, OTELResourceDetector, Resource

from turngate.errors import ConfigError
from turngate.traces.telemetry import jsonl, names, otlp
from turngate.traces.telemetry.channel import Channel, open_channel
from turngate.traces.telemetry.config import ExporterKind, Signal
from turngate.traces.telemetry.providers import Dropped, Providers

__all__ = ["Pipeline"]

_VARIABLES: dict[Signal, str] = {
    "traces": "OTEL_BSP_* and OTEL_SPAN_*",
    "logs": "OTEL_BLRP_*",
    "metrics": "OTEL_METRIC_EXPORT_INTERVAL and OTEL_METRIC_EXPORT_TIMEOUT",
}


class Pipeline:
    """Channels for the signals that have an exporter in `chosen`.

    `file` is where `jsonl` writes, `endpoint` where `otlp` sends (None: the standard variables), `limit` the longest
    attribute of a span in characters. Raises `ConfigError` for an endpoint or a variable that cannot be understood.
    """

    def __init__(self, chosen: dict[Signal, ExporterKind], file: Path, endpoint: str | None, limit: int) -> None:
        self.channels: dict[Signal, Channel] = {}
        lines, resource = jsonl.LinesFile(file), _resource()
        for signal, kind in chosen.items():
            if kind == "none":
                continue
            sink = jsonl.sink(lines, signal) if kind == "jsonl" else otlp.sink(endpoint, signal)
            try:
                self.channels[signal] = open_channel(signal, sink, resource, limit)
            except ValueError as error:  # the SDK's own sentence about a variable
                why = " ".join(str(error).split()).rstrip(".")
                raise ConfigError(f"telemetry: {why}: check the variables {_VARIABLES[signal]}") from error

    @property
    def providers(self) -> Providers:
        """Through which spans, events and metrics get in."""
        found: dict[Signal, Any] = {signal: channel.provider for signal, channel in self.channels.items()}
        tracer = found.get("traces")
        return Providers(tracer, found.get("logs"), found.get("metrics"), tracer.id_generator if tracer else None)

    def flush(self) -> None:
        """Deliver the spans and events that wait, in this thread, however long it takes."""
        for signal, channel in self.channels.items():
            if signal != "metrics":
                channel.flush()

    def close(self, timeout_seconds: float) -> Dropped:
        """Deliver what waits, for at most `timeout_seconds`; returns what was not delivered in all."""
        # The SDK's own flush knows no limit, and its shutdown waits up to 30 s for a request that hangs.
        began, closers = time.monotonic(), []
        for channel in self.channels.values():
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
        dropped = {signal: channel.dropped for signal, channel in self.channels.items()}
        return Dropped(dropped.get("traces", 0), dropped.get("logs", 0), dropped.get("metrics", 0))


def _resource() -> Resource:
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):  # no OTEL_SERVICE_NAME
        resource = resource.merge(Resource({SERVICE_NAME: names.SCOPE}))
    if SERVICE_INSTANCE_ID not in OTELResourceDetector().detect().attributes:  # the SDK's own is one per process
        # Two runs side by side would otherwise write one and the same metric.
        resource = resource.merge(Resource({SERVICE_INSTANCE_ID: str(uuid.uuid4())}))
    return resource
