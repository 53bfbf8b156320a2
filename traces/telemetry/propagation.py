"""W3C trace context for the calls that editors and evaluators make, so that a server's spans hang below ours.

The loop asks `request_headers` right before it calls a part. An editor is given the answer in `EditRequest.headers`; an
evaluator, which knows no turn, calls from inside `turngate.providers.trace_headers.below`.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar

from turngate.traces.telemetry.place import Place
from turngate.traces.telemetry.trace_context import started_under

__all__ = ["enter", "leave", "request_headers"]

_place: ContextVar[Place | None] = ContextVar("turngate_telemetry_place", default=None)


def request_headers(turn: int, attempt: int, evaluator: str | None = None) -> dict[str, str]:
    """Headers `traceparent` (and `tracestate`) of an attempt's editor call, or of its evaluation by `evaluator`.

    When spans go to the application's own provider, which makes its ids when a span starts, these are the headers of
    the span that is current in the application. Empty when no spans are sent.
    """
    place = _place.get()
    if place is not None:
        return (place.edit(turn, attempt) if evaluator is None else place.evaluate(turn, attempt, evaluator)).headers()
    return started_under({}) if "opentelemetry.trace" in sys.modules else {}


def enter(place: Place) -> None:
    """From now on `request_headers` speaks of this run, in this thread and in those that copy its context."""
    _place.set(place)


def leave() -> None:
    """The run's work ended here."""
    _place.set(None)
