"""Step 3 of an attempt: decide, record, and say where the run stands."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from turngate.graphs.decision import lacking, may_ask, rule, settle
from turngate.graphs.history import Position, advance, readings
from turngate.graphs.masked_accept import composable, masked
from turngate.graphs.session import Session
from turngate.traces.records import AttemptRecord, AttemptRow, ScoreRow, TruthRow

__all__ = ["decide"]


def decide(
    session: Session, position: Position, attempt: AttemptRow, scores: Iterable[ScoreRow], truth: TruthRow | None
) -> Position:
    """Decide, record, and say where the run stands.

    The returned status is `running`, an ending, or `waiting` (a person must decide; nothing was recorded).
    """
    config = session.config
    by_name = {score.evaluator: score for score in scores}
    ordered = [by_name[name] for name in session.parts.evaluators]
    seen = readings(ordered)
    session.memory.try_candidate(attempt, seen)
    review = session.review(attempt.turn, attempt.attempt) if may_ask(config) else None
    ruling = rule(config, session.parts.gate, session.memory, attempt, ordered, truth, review)
    row = None
    if ruling is not None:
        ruling = replace(ruling, decision=composable(session, attempt, ruling.decision))
        row = settle(
            ruling, position, attempt, session.memory.tried, config.on_reject, session.origin.sha256, config.turns,
            time.time_ns(),
        )  # fmt: skip
    if row is None:
        waits_for = ruling.decision.reason if ruling else lacking(session.parts.gate, ordered)
        session.reason = f"turn {attempt.turn}, attempt {attempt.attempt} waits for a person: {waits_for}"
        return replace(position, status="waiting")
    attempt, row = masked(session, position, attempt, row)
    row = session.ledger.record(attempt, ordered, truth, row)
    after = advance(position, row)
    session.memory.note(attempt, seen, row, after)
    session.meter.add(attempt)
    session.meter.add_scores(ordered)
    session.position = after
    session.model = attempt.model or session.model
    for observer in session.observers:
        observer.attempt(AttemptRecord(attempt, tuple(ordered), truth, row))
    return _limit(session, after, row.reason)


def _limit(session: Session, after: Position, reason: str) -> Position:
    """`after`, or the same position with an ending status when a budget is used up or a signal came."""
    if after.status != "running":
        session.reason = None if after.status == "complete" else reason
        return after
    used_up = session.meter.exhausted(session.config.budgets)
    if used_up is None and session.halt is None:
        return after
    session.reason = used_up or session.halt
    return replace(after, status="budget_exhausted" if used_up else "interrupted")
