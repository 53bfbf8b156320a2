"""The span tree of one run, built attempt by attempt from what was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    TracerProvider,
    TraceState,
    set_span_in_context,
)

from turngate.traces.images import ImageStore
from turngate.traces.records import AttemptRecord, AttemptRow, ScoreRow
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry.attributes import (
    Attributes,
    called,
    closing_attributes,
    decision_attributes,
    edit_attributes,
    ending_attributes,
    evaluation_span_attributes,
    failed_calls,
    gate_attributes,
    run_attributes,
    scoped,
    try_attributes,
    turn_attributes,
)
from turngate.traces.telemetry.content import Content, image_facts, origin_facts
from turngate.traces.telemetry.place import (
    TraceContext,
    TracePlace,
    edit_span_id,
    evaluate_span_id,
    gate_span_id,
    run_span_id,
    try_span_id,
    turn_span_id,
)

if TYPE_CHECKING:
    from turngate.traces.telemetry.channel import DerivedIds

__all__ = ["RunTrace", "remote_context"]


class SpanStarter:
    """Starts the spans of one run: with which ids, below which parent, through which tracer.

    With `derived` ids a span has the id of its place in the run. Without, the provider is the application's: it makes
    the ids, and the run becomes a child of the span that is current there.
    """

    def __init__(self, provider: TracerProvider, derived: DerivedIds | None, place: TracePlace, info: RunInfo) -> None:
        self._tracer = scoped(provider.get_tracer, info)
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

        Its parent is `parent`; or it begins the trace `new_trace`; or it is the run's own span.
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
    """A context whose current span is `above`, of another process."""
    state = TraceState.from_header([above.state]) if above.state else None
    context = SpanContext(
        above.trace, above.span, is_remote=True, trace_flags=TraceFlags(above.flags), trace_state=state
    )
    return set_span_in_context(NonRecordingSpan(context), Context())


class RunTrace:
    """Root -> `turn N` -> editor calls, evaluations and gate decisions.

    A span is sent when it ends, so a process that dies leaves the root and the open turn to the one that resumes.
    """

    def __init__(
        self,
        provider: TracerProvider,
        derived: DerivedIds | None,
        info: RunInfo,
        place: TracePlace,
        content: Content,
        images: ImageStore,
        started_ns: int,
    ) -> None:
        self._info = info
        self._place = place
        self._content = content
        self._spans = SpanStarter(provider, derived, place, info)
        self._origin = info.origin.image
        self._images: dict[str, dict[str, Any]] = {}
        if content.capture:
            self._images[self._origin] = origin_facts(info, images)
        self._current = self._origin
        self._first: AttemptRow | None = None  # of the open turn
        self._before: str | None = None  # current image when that turn began
        self._turn: Span | None = None
        self._after: list[Link] = []  # to the turn before
        self._retried: list[Link] = []
        self._closed_turns = 0
        self._attempts = 0
        self._cost: float | None = None
        self._root = self._spans.start(
            names.SPAN_RUN, run_span_id(info.run), started_ns, run_attributes(info), links=self._parent_link()
        )

    def skip(self, record: AttemptRecord) -> None:
        """Take in an attempt whose spans another process sent."""
        row = record.attempt
        self._begin(row)
        span_id = edit_span_id(self._info.run, row.turn, row.attempt)
        self._retried = self._spans.link("retry_of", self._place.turn_trace(row.turn), span_id)
        self._note(record)

    def attempt(self, record: AttemptRecord) -> Context:
        """Send the spans of an attempt, and that of its turn when it closes it; returns the editor call's context."""
        row, decision = record.attempt, record.decision
        self._begin(row)
        turn = self._turn_span(row)
        edit = self._edit(record, turn)
        for score in record.scores:
            self._evaluate(score, turn)
        decided = decision_attributes(decision, self._content)
        done = max([row.ended_ns, *(score.ended_ns for score in record.scores)])
        gate = self._spans.start(
            names.SPAN_GATE,
            gate_span_id(self._info.run, row.turn, row.attempt),
            min(done, decision.at_ns),
            gate_attributes(decision, decided, self._content),
            parent=turn,
        )
        gate.end(decision.at_ns)
        if decision.closes_turn:
            turn.set_attributes(closing_attributes(decision, decided))
            turn.end(decision.at_ns)
        self._note(record)
        return set_span_in_context(edit, Context())

    def end(self, status: str, reason: str | None, ended_ns: int, broken_off: bool) -> None:
        """Send the root, and before it a turn that the end of the run cut short.

        The root has an error when the work failed or was broken off; a signal or a program that closes its run ends it
        in order.
        """
        if self._first is not None:
            turn = self._turn_span(self._first)
            turn.set_attribute(names.TURN_CLOSED, False)
            turn.end(ended_ns)
        said = self._content.text(reason)
        self._root.set_attributes(ending_attributes(status, said, self._closed_turns, self._attempts, self._cost))
        if status == "failed" or broken_off:
            self._root.set_status(StatusCode.ERROR, said)
        self._root.end(ended_ns)

    def _begin(self, row: AttemptRow) -> None:
        if self._first is None:
            self._first, self._before = row, self._current

    def _turn_span(self, row: AttemptRow) -> Span:
        if self._turn is None:
            first, apart = self._first or row, self._place.trace_per == "turn"
            run = Link(self._root.get_span_context(), {names.LINK_RELATION: "turn_of"})
            self._turn = self._spans.start(
                names.SPAN_TURN.format(turn=row.turn),
                turn_span_id(self._info.run, row.turn),
                first.started_ns,
                turn_attributes(self._info.run, row.turn, self._before),
                parent=None if apart else self._root,
                new_trace=self._place.turn_trace(row.turn) if apart else None,
                links=[run, *self._after] if apart else (),
            )
        return self._turn

    def _edit(self, record: AttemptRecord, turn: Span) -> Span:
        row, run, at = record.attempt, self._info.run, record.attempt.started_ns
        name = names.SPAN_EDIT.format(model=called(self._info))
        kind = SpanKind.CLIENT if row.provider is not None else SpanKind.INTERNAL
        for call in failed_calls(row):
            span_id = try_span_id(run, row.turn, row.attempt, call.number)
            asked = try_attributes(self._info, row, call)
            lost = self._spans.start(name, span_id, at, asked, parent=turn, kind=kind, links=self._retried)
            lost.set_status(StatusCode.ERROR, call.why)
            lost.end(call.ended_ns)
            self._retried, at = [_retry_of(lost)], call.again_ns
        attributes = edit_attributes(self._info, row, record.truth, self._content)
        if self._content.capture:
            attributes[names.INPUT_MESSAGES] = self._content.input_messages(row, self._origin, self._images)
            attributes[names.OUTPUT_MESSAGES] = self._content.output_messages(row)
        span_id = edit_span_id(run, row.turn, row.attempt)
        span = self._spans.start(name, span_id, at, attributes, parent=turn, kind=kind, links=self._retried)
        if row.outcome == "no_image":
            span.set_status(StatusCode.ERROR, self._content.text(row.detail))
        span.end(row.ended_ns)
        self._retried = [_retry_of(span)]
        return span

    def _evaluate(self, row: ScoreRow, turn: Span) -> None:
        span = self._spans.start(
            names.SPAN_EVALUATE.format(evaluator=row.evaluator),
            evaluate_span_id(self._info.run, row.turn, row.attempt, row.evaluator),
            row.started_ns,
            evaluation_span_attributes(self._info, row, self._content),
            parent=turn,
        )
        if row.status == "failed":
            span.set_status(StatusCode.ERROR, self._content.text(row.detail))
        span.end(row.ended_ns)

    def _note(self, record: AttemptRecord) -> None:
        row = record.attempt
        self._attempts += 1
        self._current = record.decision.image_after
        if row.cost_usd is not None:
            self._cost = (self._cost or 0.0) + row.cost_usd
        if self._content.capture and row.image is not None:
            self._images[row.image] = image_facts(row)
        if record.decision.closes_turn:
            span_id = turn_span_id(self._info.run, row.turn)
            self._after = self._spans.link("after", self._place.turn_trace(row.turn), span_id)
            self._closed_turns += 1
            self._first = self._turn = None
            self._retried = []

    def _parent_link(self) -> list[Link]:
        parent = self._info.parent
        if parent is None:
            return []
        theirs = TracePlace(parent.run, self._place.trace_per)  # as if the parent had been sent with the same settings
        if not parent.turn:
            return self._spans.link("forked_from", theirs.trace, run_span_id(parent.run))
        span_id = turn_span_id(parent.run, parent.turn)
        return self._spans.link("forked_from", theirs.turn_trace(parent.turn), span_id)


def _retry_of(span: Span) -> Link:
    return Link(span.get_span_context(), {names.LINK_RELATION: "retry_of"})
