"""OTLP over HTTP: where each signal goes, and the SDK's exporters for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from turngate.errors import ConfigError
from turngate.traces.redact import redact
from turngate.traces.telemetry.config import Signal

if TYPE_CHECKING:
    from turngate.traces.telemetry.channel import Sink

__all__ = ["signal_url", "sink", "target"]

_PATHS: dict[Signal, str] = {"traces": "/v1/traces", "logs": "/v1/logs", "metrics": "/v1/metrics"}


def sink(endpoint: str | None, signal: Signal) -> Sink:
    """Sends the batches of `signal` to `endpoint`, see `signal_url`; None: the standard OTEL_EXPORTER_OTLP_* variables.

    Raises `ConfigError` when the endpoint or a variable cannot be understood.
    """
    from turngate.traces.telemetry.channel import Sink

    url = signal_url(endpoint, signal) if endpoint else None
    try:
        exporter = _exporter(signal)(endpoint=url)
    except (ValueError, RuntimeError, OSError) as error:
        raise ConfigError(f"telemetry: {error}: check the OTEL_EXPORTER_OTLP_* variables") from error
    return Sink(target(endpoint, signal), lambda batch: exporter.export(batch).name == "SUCCESS", exporter.shutdown)


def _exporter(signal: Signal) -> Callable[..., Any]:
    match signal:
        case "traces":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            return OTLPSpanExporter
        case "logs":
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

            return OTLPLogExporter
        case "metrics":
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

            return OTLPMetricExporter


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
