"""Which rule decides about a candidate, and how: the gate, or a policy where the gate cannot be asked."""

from __future__ import annotations

from collections.abc import Sequence

from turngate.agent.gate import Decision, Gate, Verdict
from turngate.errors import InternalError, TurngateError
from turngate.graphs.config import RunConfig
from turngate.graphs.memory import Memory, readings
from turngate.graphs.seeds import derive
from turngate.graphs.verdict import Ruling
from turngate.traces.records import AttemptRow, EventRow, ScoreRow, TruthRow

__all__ = ["lacking", "may_ask", "rule"]


def may_ask(config: RunConfig) -> bool:
    """A person may have to decide."""
    return config.on_unscored.policy == "ask_human" or config.on_reject.then == "ask_human"


def rule(
    config: RunConfig,
    gate: Gate,
    memory: Memory,
    attempt: AttemptRow,
    scores: Sequence[ScoreRow],
    truth: TruthRow | None,
    review: EventRow | None,
) -> Ruling | None:
    """Which rule decides and how; None when a person must. `review` is what a person said about this attempt."""
    if review is not None:
        comment = f": {review.data['comment']}" if review.data.get("comment") else ""
        verdict: Verdict = "accept" if review.data["accept"] else "reject"
        return Ruling(Decision(verdict, f"a person said {verdict}{comment}"), "human", human=True)
    if attempt.outcome == "no_image":
        reason = f"no image: {attempt.why}{': ' + attempt.detail if attempt.detail else ''}"
        stop = config.on_no_image == "stop"
        return Ruling(Decision("reject", reason), f"on_no_image:{config.on_no_image}", stop=stop)
    if attempt.outcome == "no_change" and config.on_no_change != "decide":
        rejected = Decision("reject", "the editor returned its input")
        return Ruling(rejected, f"on_no_change:{config.on_no_change}", stop=config.on_no_change == "stop")
    missing = lacking(gate, scores)
    if missing:
        policy = config.on_unscored.policy
        if policy == "ask_human":
            return None
        unscored: Verdict = "accept" if policy == "accept" else "reject"
        return Ruling(Decision(unscored, missing), f"on_unscored:{policy}", stop=policy == "stop")
    return Ruling(_ask(config, gate, memory, attempt, scores, truth), "gate")


def lacking(gate: Gate, scores: Sequence[ScoreRow]) -> str:
    """What the gate lacks, in one line; empty when it lacks nothing."""
    by_name = {score.evaluator: score for score in scores}
    missing = []
    for name in sorted(gate.reads):
        score = by_name[name]
        if score.status != "scored":
            tries = f" after {score.tries} tries" if score.tries > 1 else ""
            missing.append(f"{name} {score.status} ({score.why}){tries}")
    return "; ".join(missing)


def _ask(
    config: RunConfig,
    gate: Gate,
    memory: Memory,
    attempt: AttemptRow,
    scores: Sequence[ScoreRow],
    truth: TruthRow | None,
) -> Decision:
    damaged = truth.damaged if truth and gate.reads_truth else None
    seed = derive(config.seed, "gate", attempt.turn, attempt.attempt)
    past = memory.past(attempt.turn, attempt.attempt, seed, damaged)
    try:
        return gate.decide({name: r for name, r in readings(scores).items() if name in gate.reads}, past)
    except TurngateError:
        raise
    except Exception as error:
        raise InternalError(
            f"gate {config.gate.type!r} broke at turn {attempt.turn} ({type(error).__name__}: {error}): "
            "mend it, then `turngate resume` decides this turn again"
        ) from error
