"""Keeps the SDK's log lines about our own exports off the screen; those about the application's own stay."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["install", "quiet"]

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
