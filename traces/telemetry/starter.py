"""Starts the spans of one run: which ids, which parent, which tracer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    TraceFlags,
    TracerProvider,
    TraceState,
    set_span_in_context,
)

from turngate.traces.telemetry import names
from turngate.traces.telemetry._values import Attributes
from turngate.traces.telemetry.place import Place
from turngate.traces.telemetry.trace_context import TraceContext

if TYPE_CHECKING:
    from turngate.traces.telemetry.derived_ids import DerivedIds

__all__ = ["SpanStarter", "remote_context"]


class SpanStarter:
    """With `derived` ids a span has the id of its place in the run. Without, the provider is the application's own:

    it makes the ids, and the run becomes a child of the span that is current there.
    """

    def __init__(
        self, provider: TracerProvider, derived: DerivedIds | None, place: Place, version: str | None = None
    ) -> None:
        self._tracer = provider.get_tracer(
            names.SCOPE, version, attributes={names.SCOPE_CONVENTIONS: names.CONVENTIONS}
        )
        self._derived = derived
        self._place = place

    def start(
        self,
        name: str,
        span_id: int,
        started_ns: int,
        attributes: Attributes,
        *,
        parent: Span | None = None,
        new_trace: int | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        links: Sequence[Link] = (),
    ) -> Span:
        """A span that began at `started_ns` (Unix nanoseconds); the caller ends it with its own time.

        It hangs below `parent`, or begins the trace `new_trace`, or is the run's own.
        """
        if parent is not None:
            context: Context | None = set_span_in_context(parent, Context())
        elif new_trace is not None:
            context = Context()
        elif self._derived is None:
            context = None  # below what is current in the application
        else:
            above = self._place.started_under
            context = remote_context(above) if above is not None else Context()
        if self._derived is not None:
            self._derived.want(self._place.trace if new_trace is None else new_trace, span_id)
        return self._tracer.start_span(
            name, context, kind=kind, attributes=attributes, links=links, start_time=started_ns
        )

    def link(self, relation: str, trace: int, span_id: int) -> list[Link]:
        """A link to a span that another process sent; none when its id cannot be known."""
        if self._derived is None:
            return []
        context = SpanContext(trace, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
        return [Link(context, {names.LINK_RELATION: relation})]


def remote_context(above: TraceContext) -> Context:
    """A context in which a span of somebody else is current."""
    state = TraceState.from_header([above.state]) if above.state else None
    context = SpanContext(
        above.trace, above.span, is_remote=True, trace_flags=TraceFlags(above.flags), trace_state=state
    )
    return set_span_in_context(NonRecordingSpan(context), Context())
