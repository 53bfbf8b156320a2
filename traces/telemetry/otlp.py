"""OTLP over HTTP: where each signal goes, and the SDK's exporters for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from turngate.errors import ConfigError
from turngate.traces.redact import redact
from turngate.traces.telemetry.config import Signal

if TYPE_CHECKING:
    from opentelemetry.sdk._logs.export import LogRecordExporter
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace.export import SpanExporter

__all__ = ["event_exporter", "metric_exporter", "signal_url", "span_exporter", "target"]

_PATHS: dict[Signal, str] = {"traces": "/v1/traces", "logs": "/v1/logs", "metrics": "/v1/metrics"}
T = TypeVar("T")


def span_exporter(endpoint: str | None) -> SpanExporter:
    """Spans to `endpoint`, see `signal_url`; None: the standard OTEL_EXPORTER_OTLP_* variables.

    Raises `ConfigError` when the endpoint or a variable cannot be understood.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return _built(lambda url: OTLPSpanExporter(endpoint=url), endpoint, "traces")


def event_exporter(endpoint: str | None) -> LogRecordExporter:
    """The same for events."""
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

    return _built(lambda url: OTLPLogExporter(endpoint=url), endpoint, "logs")


def metric_exporter(endpoint: str | None) -> MetricExporter:
    """The same for metrics; cumulative or delta as OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE says."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    return _built(lambda url: OTLPMetricExporter(endpoint=url), endpoint, "metrics")


def signal_url(endpoint: str, signal: Signal) -> str:
    """URL for a signal; `endpoint` is a base URL, or the whole one of any signal (`.../v1/traces`).

    Raises `ConfigError` when it is not an HTTP URL.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"telemetry endpoint {endpoint!r} is no http(s) URL: give one such as http://localhost:4318")
    base = parts.path.rstrip("/")
    for path in _PATHS.values():
        base = base.removesuffix(path)
    return parts._replace(path=base + _PATHS[signal]).geturl()


def target(endpoint: str | None, signal: Signal) -> str:
    """Where a signal goes, for people."""
    if endpoint:
        return redact(endpoint)
    named = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
    return redact(named or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or "http://localhost:4318")


def _built(build: Callable[[str | None], T], endpoint: str | None, signal: Signal) -> T:
    url = signal_url(endpoint, signal) if endpoint else None
    try:
        return build(url)
    except (ValueError, RuntimeError, OSError) as error:
        raise ConfigError(f"telemetry: {error}: check the OTEL_EXPORTER_OTLP_* variables") from error
