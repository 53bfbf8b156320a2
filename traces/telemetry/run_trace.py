"""The span tree of one run, built attempt by attempt from what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.trace import Link, Span, SpanKind, StatusCode, TracerProvider

from turngate.traces.records import AttemptRecord, AttemptRow, ScoreRow
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import ids, names
from turngate.traces.telemetry.attributes import (
    closing_attributes,
    decision_attributes,
    edit_attributes,
    ending_attributes,
    evaluate_attributes,
    gate_attributes,
    run_attributes,
    turn_attributes,
)
from turngate.traces.telemetry.content import clip, image_facts, input_messages, origin_facts, output_messages
from turngate.traces.telemetry.starter import SpanStarter

if TYPE_CHECKING:
    from turngate.traces.telemetry.pipeline import DerivedIds

__all__ = ["RunTrace"]


class RunTrace:
    """Root -> `turn N` -> editor calls, evaluations and gate decisions.

    A span is sent when it ends, so a process that dies leaves the root and the open turn to the one that resumes.
    """

    def __init__(
        self,
        provider: TracerProvider,
        derived: DerivedIds | None,
        info: RunInfo,
        started_ns: int,
        *,
        capture_content: bool = False,
    ) -> None:
        self._info = info
        self._spans = SpanStarter(provider, derived, info)
        self._capture = capture_content
        self._origin: str | None = info.origin.get("image")
        self._images: dict[str, dict[str, Any]] = {}
        if self._origin is not None:
            self._images[self._origin] = origin_facts(info)
        self._current = self._origin
        self._first: AttemptRow | None = None  # of the open turn
        self._before: str | None = None  # current image when that turn began
        self._turn: Span | None = None
        self._retried: list[Link] = []
        self._closed_turns = 0
        self._attempts = 0
        self._cost: float | None = None
        self._root = self._spans.start(
            names.SPAN_RUN, ids.run_span_id(info.run), started_ns, run_attributes(info), links=self._parent_link()
        )

    def skip(self, record: AttemptRecord) -> None:
        """Take in an attempt whose spans another process sent."""
        row = record.attempt
        self._begin(row)
        self._retried = self._spans.link("retry_of", ids.edit_span_id(self._info.run, row.turn, row.attempt))
        self._note(record)

    def attempt(self, record: AttemptRecord) -> None:
        """Send the spans of an attempt, and that of its turn when it closes it."""
        row, decision = record.attempt, record.decision
        self._begin(row)
        turn = self._turn_span(row)
        self._edit(record, turn)
        for score in record.scores:
            self._evaluate(score, turn)
        decided = decision_attributes(decision)
        done = max([row.ended_ns, *(score.ended_ns for score in record.scores)])
        gate = self._spans.start(
            names.SPAN_GATE,
            ids.gate_span_id(self._info.run, row.turn, row.attempt),
            min(done, decision.at_ns),
            gate_attributes(decision, decided),
            parent=turn,
        )
        gate.end(decision.at_ns)
        if decision.closes_turn:
            turn.set_attributes(closing_attributes(decision, decided))
            turn.end(decision.at_ns)
        self._note(record)

    def end(self, status: str, reason: str | None, ended_ns: int) -> None:
        """Send the root, and before it a turn that the end of the run cut short."""
        if self._first is not None:
            turn = self._turn_span(self._first)
            turn.set_attribute(names.TURN_CLOSED, False)
            turn.end(ended_ns)
        self._root.set_attributes(ending_attributes(status, reason, self._closed_turns, self._attempts, self._cost))
        if status == "failed":
            self._root.set_status(StatusCode.ERROR, clip(reason) if reason else None)
        self._root.end(ended_ns)

    def _begin(self, row: AttemptRow) -> None:
        if self._first is None:
            self._first, self._before = row, self._current

    def _turn_span(self, row: AttemptRow) -> Span:
        if self._turn is None:
            first = self._first or row
            self._turn = self._spans.start(
                names.SPAN_TURN.format(turn=row.turn),
                ids.turn_span_id(self._info.run, row.turn),
                first.started_ns,
                turn_attributes(self._info.run, row.turn, self._before),
                parent=self._root,
            )
        return self._turn

    def _edit(self, record: AttemptRecord, turn: Span) -> None:
        row, editor = record.attempt, self._info.resolved.get("editor", {})
        attributes = edit_attributes(self._info, row, record.truth)
        if self._capture:
            attributes[names.INPUT_MESSAGES] = input_messages(row, self._origin, self._images)
            attributes[names.OUTPUT_MESSAGES] = output_messages(row)
        span = self._spans.start(
            names.SPAN_EDIT.format(model=editor.get("model") or attributes[names.PROVIDER]),
            ids.edit_span_id(self._info.run, row.turn, row.attempt),
            row.started_ns,
            attributes,
            parent=turn,
            kind=SpanKind.CLIENT if editor.get("paid") else SpanKind.INTERNAL,
            links=self._retried,
        )
        if row.outcome == "no_image":
            span.set_status(StatusCode.ERROR, clip(row.detail) or None)
        span.end(row.ended_ns)
        self._retried = [Link(span.get_span_context(), {names.LINK_RELATION: "retry_of"})]

    def _evaluate(self, row: ScoreRow, turn: Span) -> None:
        span = self._spans.start(
            names.SPAN_EVALUATE.format(evaluator=row.evaluator),
            ids.evaluate_span_id(self._info.run, row.turn, row.attempt, row.evaluator),
            row.started_ns,
            evaluate_attributes(row, self._capture),
            parent=turn,
        )
        if row.status == "failed":
            span.set_status(StatusCode.ERROR, clip(row.detail) or None)
        span.end(row.ended_ns)

    def _note(self, record: AttemptRecord) -> None:
        row = record.attempt
        self._attempts += 1
        self._current = record.decision.image_after
        if row.cost_usd is not None:
            self._cost = (self._cost or 0.0) + row.cost_usd
        if self._capture and row.image is not None:
            self._images[row.image] = image_facts(row)
        if record.decision.closes_turn:
            self._closed_turns += 1
            self._first = self._turn = None
            self._retried = []

    def _parent_link(self) -> list[Link]:
        parent = self._info.parent
        if parent is None:
            return []
        span = ids.turn_span_id(parent.run, parent.turn) if parent.turn else ids.run_span_id(parent.run)
        return self._spans.link("forked_from", span, parent.run)
