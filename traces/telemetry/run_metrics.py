"""The metrics of one run: how long, how much, how good, how decided."""

from __future__ import annotations

from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider

from turngate.traces.records import AttemptRecord, AttemptRow, ScoreRow
from turngate.traces.run_folder import RunInfo
from turngate.traces.telemetry import names
from turngate.traces.telemetry.attributes import (
    Attributes,
    answered_at,
    called,
    edit_error,
    failed_calls,
    known,
    scoped,
)

__all__ = ["SCORE_BOUNDARIES", "RunMetrics"]

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""Bucket boundaries that the conventions ask for."""
_TURN_SECONDS = (*_SECONDS, 163.84, 327.68, 655.36)
"""The same, and longer: a turn may take several calls and wait on limits."""
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
"""Bucket boundaries that the conventions ask for."""
SCORE_BOUNDARIES = (
    -100, -50, -20, -10, -5, -2, -1, -0.5, -0.2, 0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1,
    1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80, 90, 100,
)  # fmt: skip
"""Bucket boundaries of scores: from 0 to 1, marks from 1 to 10, decibels, percentages, and values below zero."""


class RunMetrics:
    """Counts what this process did; what an earlier one did is in that one's own metrics."""

    def __init__(self, provider: MeterProvider, info: RunInfo) -> None:
        self._info = info
        meter = scoped(provider.get_meter, info)
        self._seconds = meter.create_histogram(
            names.METRIC_EDIT_DURATION, "s", "Duration of editor calls", explicit_bucket_boundaries_advisory=_SECONDS
        )
        self._tokens = meter.create_histogram(
            names.METRIC_TOKENS, "{token}", "Tokens of an editor call", explicit_bucket_boundaries_advisory=_TOKENS
        )
        # OpenTelemetry's histograms take no value below zero, and BRISQUE's often is. Our own pipeline makes a
        # histogram of this gauge; an application's meter provider does with a view, see docs/telemetry.md.
        self._scores = meter.create_gauge(names.METRIC_SCORE, "1", "Scores of candidates")
        self._turn_seconds = meter.create_histogram(
            names.METRIC_TURN_DURATION,
            "s",
            "Duration of turns, from the first editor call to the decision that closes them",
            explicit_bucket_boundaries_advisory=_TURN_SECONDS,
        )
        self._decisions = meter.create_counter(names.METRIC_DECISIONS, "{decision}", "Decisions about candidates")
        self._retries = meter.create_counter(names.METRIC_RETRIES, "{retry}", "Editor calls made again")
        self._cost = meter.create_counter(names.METRIC_COST, "{USD}", "Reported cost of calls")
        self._turn_started_ns: int | None = None
        self._asked_again: str | None = None
        """Why the open turn needs another attempt."""

    def skip(self, record: AttemptRecord) -> None:
        """Take in an attempt that another process counted."""
        self._begin(record.attempt)
        self._note(record)

    def attempt(self, record: AttemptRecord, edit: Context) -> None:
        """Count an attempt; `edit` holds the span of its editor call, for exemplars."""
        row, decision = record.attempt, record.decision
        started_ns = self._begin(row)
        self._edit(row, edit)
        for score in record.scores:
            self._judged(score, edit)
        decided = known(
            {
                names.GATE_VERDICT: decision.verdict,
                names.GATE_ACTION: decision.action,
                names.GATE_RULE: decision.rule,
                names.RUN_GATE: self._info.recorded.gate.type or None,
            }
        )
        self._decisions.add(1, decided, edit)
        if decision.closes_turn:
            closed: Attributes = {names.GATE_VERDICT: decision.verdict, names.GATE_ACTION: decision.action}
            self._turn_seconds.record(_seconds(started_ns, decision.at_ns), closed, edit)
        self._note(record)

    def _judged(self, row: ScoreRow, edit: Context) -> None:
        judge: Attributes = {names.EVALUATION_NAME: row.evaluator, names.EVALUATOR_TYPE: row.type}
        if row.value is not None:
            self._scores.set(row.value, judge | {names.EVALUATION_DIRECTION: row.direction}, edit)
        if row.usage.get("cost_usd"):
            self._cost.add(row.usage["cost_usd"], judge | {names.COST_OF: "evaluator"}, edit)

    def _edit(self, row: AttemptRow, edit: Context) -> None:
        asked = known(
            {
                names.OPERATION: names.OPERATION_EDIT,
                names.PROVIDER: row.provider,
                names.REQUEST_MODEL: called(self._info),
            }
        )
        if self._asked_again is not None:
            level: Attributes = {names.RETRY_LEVEL: "attempt", names.ERROR_TYPE: self._asked_again}
            self._retries.add(1, asked | level, edit)
        for call in failed_calls(row):
            why: Attributes = {names.ERROR_TYPE: call.why}
            self._seconds.record(call.seconds, asked | why, edit)
            self._retries.add(1, asked | why | {names.RETRY_LEVEL: "call"}, edit)
        answered = asked | known({names.RESPONSE_MODEL: row.model})
        error = edit_error(row)
        seconds = _seconds(answered_at(row), row.ended_ns)
        self._seconds.record(seconds, answered | known({names.ERROR_TYPE: error}), edit)
        for kind, count in (("input", row.input_tokens), ("output", row.output_tokens)):
            if count is not None:
                self._tokens.record(count, answered | {names.TOKENS_TYPE: kind}, edit)
        if row.cost_usd:
            self._cost.add(row.cost_usd, answered | {names.COST_OF: "editor"}, edit)

    def _begin(self, row: AttemptRow) -> int:
        if self._turn_started_ns is None:
            self._turn_started_ns = row.started_ns
        return self._turn_started_ns

    def _note(self, record: AttemptRecord) -> None:
        if record.decision.closes_turn:
            self._turn_started_ns = self._asked_again = None
        else:
            self._asked_again = edit_error(record.attempt) or "rejected"


def _seconds(began_ns: int, ended_ns: int) -> float:
    """Never below zero, which a histogram refuses; a clock that was set back in between gives 0."""
    return max(0, ended_ns - began_ns) / 1e9
