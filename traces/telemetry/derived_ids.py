"""Hands ids that are known beforehand to the SDK."""

from __future__ import annotations

import threading

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

__all__ = ["DerivedIds"]


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
