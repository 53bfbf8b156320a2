"""Step 3 of an attempt: decide, record, and say where the run stands."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from turngate.agent.gate import Decision, Verdict
from turngate.errors import InternalError, TurngateError
from turngate.graphs.masked_accept import composable, masked
from turngate.graphs.memory import readings
from turngate.graphs.position import Position, advance
from turngate.graphs.seeds import derive
from turngate.graphs.session import Session
from turngate.graphs.verdict import Ruling, settle
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
    ruling = _rule(session, attempt, ordered, truth)
    row = None
    if ruling is not None:
        row = settle(
            ruling, position, attempt, session.memory.tried, config.on_reject, session.origin.sha256, config.turns,
            time.time_ns(),
        )  # fmt: skip
    if row is None:
        waits_for = ruling.decision.reason if ruling else _unscored(session, ordered)
        session.reason = f"turn {attempt.turn}, attempt {attempt.attempt} waits for a person: {waits_for}"
        return replace(position, status="waiting")
    attempt, row = masked(session, position, attempt, row)
    row = session.ledger.record(attempt, ordered, truth, row)
    after = advance(position, row)
    session.memory.note(attempt, seen, row, after)
    session.meter.add(attempt)
    session.position = after
    session.model = attempt.model or session.model
    for observer in session.observers:
        observer.attempt(AttemptRecord(attempt, tuple(ordered), truth, row))
    return _limit(session, after, row.reason)


def _rule(session: Session, attempt: AttemptRow, scores: list[ScoreRow], truth: TruthRow | None) -> Ruling | None:
    """Which rule decides and how; None when a person must."""
    config = session.config
    if config.on_unscored.policy == "ask_human" or config.on_reject.then == "ask_human":
        review = session.review(attempt.turn, attempt.attempt)
        if review is not None:
            comment = f": {review.data['comment']}" if review.data.get("comment") else ""
            verdict: Verdict = "accept" if review.data["accept"] else "reject"
            return Ruling(Decision(verdict, f"a person said {verdict}{comment}"), "human", human=True)
    if attempt.outcome == "no_image":
        reason = f"no image: {attempt.why}{': ' + attempt.detail if attempt.detail else ''}"
        return Ruling(
            Decision("reject", reason), f"on_no_image:{config.on_no_image}", stop=config.on_no_image == "stop"
        )
    if attempt.outcome == "no_change" and config.on_no_change != "decide":
        rejected = Decision("reject", "the editor returned its input")
        return Ruling(rejected, f"on_no_change:{config.on_no_change}", stop=config.on_no_change == "stop")
    missing = _unscored(session, scores)
    if missing:
        policy = config.on_unscored.policy
        if policy == "ask_human":
            return None
        unscored: Verdict = "accept" if policy == "accept" else "reject"
        return Ruling(Decision(unscored, missing), f"on_unscored:{policy}", stop=policy == "stop")
    return Ruling(composable(session, attempt, _ask_gate(session, attempt, scores, truth)), "gate")


def _ask_gate(session: Session, attempt: AttemptRow, scores: list[ScoreRow], truth: TruthRow | None) -> Decision:
    gate = session.parts.gate
    damaged = truth.damaged if truth and gate.reads_truth else None
    seed = derive(session.config.seed, "gate", attempt.turn, attempt.attempt)
    past = session.memory.past(attempt.turn, attempt.attempt, seed, damaged)
    try:
        return gate.decide({name: r for name, r in readings(scores).items() if name in gate.reads}, past)
    except TurngateError:
        raise
    except Exception as error:
        kind = session.config.gate.type
        raise InternalError(
            f"gate {kind!r} broke at turn {attempt.turn} ({type(error).__name__}: {error}): "
            "mend it, then `turngate resume` decides this turn again"
        ) from error


def _unscored(session: Session, scores: list[ScoreRow]) -> str:
    """What the gate lacks, in one line; empty when it lacks nothing."""
    by_name = {score.evaluator: score for score in scores}
    lacking = []
    for name in sorted(session.parts.gate.reads):
        score = by_name[name]
        if score.status != "scored":
            tries = f" after {score.tries} tries" if score.tries > 1 else ""
            lacking.append(f"{name} {score.status} ({score.why}){tries}")
    return "; ".join(lacking)


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
