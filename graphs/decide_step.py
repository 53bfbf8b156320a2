"""Step 3 of an attempt: decide, record, and say how far the run is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from turngate.graphs.decision import lacking, may_ask, next_action, readings, rule_decision
from turngate.graphs.masked_accept import composable, masked
from turngate.graphs.session import Session
from turngate.traces.progress import Progress, advance
from turngate.traces.records import AttemptRecord, AttemptRow, ScoreRow, TruthRow, truths_by_name

__all__ = ["decide"]


def decide(
    session: Session, progress: Progress, attempt: AttemptRow, scores: Iterable[ScoreRow], truths: Sequence[TruthRow]
) -> Progress:
    """Decide, record, and say how far the run is; of `truths` a gate that reads the truth is shown the leading one.

    The returned status is `running`, an ending, or `waiting` (a person must decide; nothing was recorded).
    """
    config = session.config
    by_name = {score.evaluator: score for score in scores}
    ordered = [by_name[name] for name in session.components.evaluators]
    seen = readings(ordered)
    truth, more = truths_by_name(truths)
    session.gate_history.try_candidate(attempt, seen)
    review = session.review(attempt.turn, attempt.attempt) if may_ask(config) else None
    ruled = rule_decision(config, session.components.gate, session.gate_history, attempt, ordered, truth, review)
    row = None
    if ruled is not None:
        ruled = replace(ruled, decision=composable(session.pictures, attempt, ruled.decision))
        row = next_action(
            ruled, progress, attempt, session.gate_history.tried, config.on_reject, session.origin.sha256, config.turns,
            time.time_ns(),
        )  # fmt: skip
    if row is None:
        waits_for = ruled.decision.reason if ruled else lacking(session.components.gate, ordered)
        session.reason = f"turn {attempt.turn}, attempt {attempt.attempt} waits for a person: {waits_for}"
        return replace(progress, status="waiting")
    attempt, row, composite = masked(session, progress, attempt, row)
    row = session.ledger.record(attempt, ordered, truth, row, composite, more)
    after = advance(progress, row)
    session.gate_history.note(attempt, seen, row, after, composite)
    session.divergence = session.divergence.after(attempt, row)
    session.budget_use.add(attempt)
    session.budget_use.add_scores(ordered)
    session.progress = after
    session.model = attempt.model or session.model
    for observer in session.observers:
        observer.attempt(AttemptRecord(attempt, tuple(ordered), truth, row, composite, more))
    return _limit(session, after, row.reason)


def _limit(session: Session, after: Progress, reason: str) -> Progress:
    """`after`, or the same position with an ending status when a budget is used up or a signal came."""
    if after.status != "running":
        session.reason = None if after.status == "complete" else reason
        return after
    used_up = session.budget_use.exhausted(session.config.budgets)
    if used_up is None and session.halt is None:
        return after
    session.reason = used_up or session.halt
    return replace(after, status="budget_exhausted" if used_up else "interrupted")
