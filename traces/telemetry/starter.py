"""Starts the spans of one run: which ids, which parent, which tracer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, TraceFlags, TracerProvider, set_span_in_context

from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import ids, names
from turngate.traces.telemetry.attributes import Attributes

if TYPE_CHECKING:
    from turngate.traces.telemetry.pipeline import DerivedIds

__all__ = ["SpanStarter"]


class SpanStarter:
    """With `derived` ids a span has the id of its place in the run. Without, the provider is the application's own:

    it makes the ids, and a span without parent becomes a child of the span that is current there.
    """

    def __init__(self, provider: TracerProvider, derived: DerivedIds | None, info: RunInfo) -> None:
        packages = info.made_with.get("packages", {})
        self._tracer = provider.get_tracer(
            names.SCOPE, packages.get("turngate"), attributes={names.SCOPE_CONVENTIONS: names.CONVENTIONS}
        )
        self._derived = derived
        self._trace_id = ids.trace_id(info.run)

    def start(
        self,
        name: str,
        span_id: int,
        started_ns: int,
        attributes: Attributes,
        *,
        parent: Span | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        links: Sequence[Link] = (),
    ) -> Span:
        """A span that began at `started_ns` (Unix nanoseconds); the caller ends it with its own time."""
        context = set_span_in_context(parent, Context()) if parent is not None else None
        if self._derived is not None:
            self._derived.want(self._trace_id, span_id)
            context = context or Context()
        return self._tracer.start_span(
            name, context, kind=kind, attributes=attributes, links=links, start_time=started_ns
        )

    def link(self, relation: str, span_id: int, run: str | None = None) -> list[Link]:
        """A link to a span that another process sent, of this run or of `run`; none when its id cannot be known."""
        if self._derived is None:
            return []
        trace = self._trace_id if run is None else ids.trace_id(run)
        context = SpanContext(trace, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
        return [Link(context, {names.LINK_RELATION: relation})]
