"""W3C trace context as text: where a run was started from, and what a call takes along."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["TraceContext", "started_under"]

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_TRACESTATE = re.compile(r"[ -~]{1,512}")


@dataclass(frozen=True)
class TraceContext:
    """A span of somebody, or of ours, by its ids."""

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
