"""Ids of the spans of a run, its trace context, and the headers that carry it to providers."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "TraceContext",
    "TracePlace",
    "edit_span_id",
    "enter",
    "evaluate_span_id",
    "gate_span_id",
    "leave",
    "request_headers",
    "run_span_id",
    "started_under",
    "trace_id",
    "try_span_id",
    "turn_span_id",
    "turn_trace_id",
]

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_TRACESTATE = re.compile(r"[ -~]{1,512}")


@dataclass(frozen=True)
class TraceContext:
    """W3C trace context: a span, ours or another's, by its ids."""

    trace: int
    span: int
    flags: int = 1
    """Bit 0: the span is recorded."""
    state: str = ""
    """Header `tracestate`, handed on as it came."""

    @classmethod
    def parse(cls, carrier: Mapping[str, object]) -> TraceContext | None:
        """The context in `traceparent` and `tracestate` of `carrier`; None when there is none that is valid."""
        found = _TRACEPARENT.fullmatch(str(carrier.get("traceparent", "")).strip().lower())
        if found is None:
            return None
        trace, span, flags = (int(found[group], 16) for group in (1, 2, 3))
        state = str(carrier.get("tracestate", "")).strip()
        return cls(trace, span, flags, state if _TRACESTATE.fullmatch(state) else "")

    def headers(self) -> dict[str, str]:
        """Headers `traceparent` and, where there is one, `tracestate`."""
        found = {"traceparent": f"00-{self.trace:032x}-{self.span:016x}-{self.flags:02x}"}
        return found | ({"tracestate": self.state} if self.state else {})


def started_under(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Trace context of whoever starts a run, as headers; empty when there is none.

    The span that is current in this process comes first, then TRACEPARENT and TRACESTATE of `environment` (default:
    the process's). Loads nothing.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is not None:
        current = trace.get_current_span().get_span_context()
        if current.is_valid:
            state = current.trace_state.to_header()
            return TraceContext(current.trace_id, current.span_id, int(current.trace_flags), state).headers()
    variables = os.environ if environment is None else environment
    carrier = {name: variables.get(name.upper(), "") for name in ("traceparent", "tracestate")}
    context = TraceContext.parse(carrier)
    return context.headers() if context is not None else {}


@dataclass(frozen=True)
class TracePlace:
    """Ids of the run and of its turns under derived ids."""

    run: str
    trace_per: Literal["run", "turn"] = "run"
    started_under: TraceContext | None = None
    """Whose child the run is; its spans are part of that trace then."""

    @property
    def trace(self) -> int:
        """Trace of the run's own span."""
        return self.started_under.trace if self.started_under is not None else trace_id(self.run)

    def turn_trace(self, turn: int) -> int:
        """Trace of a turn and of all that happens in it."""
        return self.trace if self.trace_per == "run" else turn_trace_id(self.run, turn)

    def edit(self, turn: int, attempt: int) -> TraceContext:
        """The span of an editor call, known before it is made."""
        return self._within(turn, edit_span_id(self.run, turn, attempt))

    def evaluate(self, turn: int, attempt: int, evaluator: str) -> TraceContext:
        """The span of an evaluation, known before it is made; for the origin (turn 0), which has none, the run's."""
        if turn == 0:
            return self._context(self.trace, run_span_id(self.run), self.started_under)
        return self._within(turn, evaluate_span_id(self.run, turn, attempt, evaluator))

    def _within(self, turn: int, span: int) -> TraceContext:
        return self._context(self.turn_trace(turn), span, self.started_under if self.trace_per == "run" else None)

    def _context(self, trace: int, span: int, joined: TraceContext | None) -> TraceContext:
        """`joined` is whose trace it is, if it is not ours."""
        state = self.started_under.state if self.started_under is not None else ""
        return TraceContext(trace, span, 1 if joined is None else joined.flags, state)


def trace_id(run: str) -> int:
    """128-bit trace id of a run: the first 16 bytes of the SHA-256 of its run id."""
    return _trace_id(run)


def turn_trace_id(run: str, turn: int) -> int:
    """128-bit trace id of a turn that has a trace of its own."""
    return _trace_id(run, turn, "turn")


def run_span_id(run: str) -> int:
    """Span id of the run itself, the root."""
    return _span_id(run, "run")


def turn_span_id(run: str, turn: int) -> int:
    """Span id of a turn."""
    return _span_id(run, turn, "turn")


def edit_span_id(run: str, turn: int, attempt: int) -> int:
    """Span id of an editor call."""
    return _span_id(run, turn, attempt, "edit")


def try_span_id(run: str, turn: int, attempt: int, number: int) -> int:
    """Span id of a call to the provider that failed and was made again, 1-based within the attempt."""
    return _span_id(run, turn, attempt, "try", number)


def evaluate_span_id(run: str, turn: int, attempt: int, evaluator: str) -> int:
    """Span id of an evaluation; `evaluator` is its name in the run's configuration."""
    return _span_id(run, turn, attempt, "evaluate", evaluator)


def gate_span_id(run: str, turn: int, attempt: int) -> int:
    """Span id of a gate's decision."""
    return _span_id(run, turn, attempt, "gate")


def _trace_id(*path: str | int) -> int:
    return int.from_bytes(_hash(path)[:16])


def _span_id(*path: str | int) -> int:
    return int.from_bytes(_hash(path)[:8])


def _hash(path: tuple[str | int, ...]) -> bytes:
    return hashlib.sha256("/".join(str(step) for step in path).encode()).digest()


# The loop asks `request_headers` right before it calls an editor or an evaluator. An editor gets the headers in
# `EditRequest.headers`; an evaluator, which knows no turn, calls from inside `turngate.providers.calling.below`.

_place: ContextVar[TracePlace | None] = ContextVar("turngate_telemetry_place", default=None)


def request_headers(turn: int, attempt: int, evaluator: str | None = None) -> dict[str, str]:
    """Headers `traceparent` (and `tracestate`) of an attempt's editor call, or of its evaluation by `evaluator`.

    When spans go to the application's own provider, which makes its ids when a span starts, these are the headers of
    the span that is current in the application. Empty when no spans are sent.
    """
    place = _place.get()
    if place is not None:
        return (place.edit(turn, attempt) if evaluator is None else place.evaluate(turn, attempt, evaluator)).headers()
    return started_under({}) if "opentelemetry.trace" in sys.modules else {}


def enter(place: TracePlace) -> None:
    """Make `request_headers` give the spans of this run, in this thread and in those that copy its context."""
    _place.set(place)


def leave() -> None:
    """Undo `enter`: this process no longer works on the run."""
    _place.set(None)
