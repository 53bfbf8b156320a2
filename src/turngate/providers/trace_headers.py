"""W3C trace context for calls that are made below somebody who knows turn and run, by somebody who does not.

An evaluator is not told where in a run it stands. Whoever asks it says so here, and the clients of this folder send it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["below", "trace_headers"]

_headers: ContextVar[Mapping[str, str]] = ContextVar("turngate_trace_headers")


def trace_headers() -> dict[str, str]:
    """Headers `traceparent` (and `tracestate`) that belong to a call made here; empty when nobody traces."""
    return dict(_headers.get({}))


@contextmanager
def below(headers: Mapping[str, str]) -> Iterator[None]:
    """Calls made inside, in this thread and in tasks and threads that copy its context, carry `headers`."""
    token = _headers.set(headers)
    try:
        yield
    finally:
        _headers.reset(token)
