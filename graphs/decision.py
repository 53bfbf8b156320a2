"""What a gate may remember, which rule decides about a candidate, and what happens next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from turngate.agent.gate import Accepted, Decision, Gate, Past, Reading, Readings, Verdict
from turngate.agent.rejection import Rejection, Tried, best_of
from turngate.errors import InternalError, TurngateError
from turngate.graphs.config import RunConfig, derive
from turngate.traces.progress import Progress
from turngate.traces.records import AttemptRow, CompositeRow, DecisionRow, EventRow, ScoreRow, TruthRow

__all__ = ["GateHistory", "RuledDecision", "lacking", "may_ask", "next_action", "readings", "rule_decision"]


# What a gate may remember: readings of the origin, of the lineage, and of this turn's candidates.


def readings(scores: Iterable[ScoreRow]) -> Readings:
    """The scored results among `scores`, by evaluator."""
    return {
        score.evaluator: Reading(score.evaluator, score.value, score.direction, score.label)
        for score in scores
        if score.status == "scored" and score.value is not None
    }


class GateHistory:
    """Filled by `note` with every recorded attempt in order, live or on resume alike."""

    def __init__(self, origin: Readings) -> None:
        self.origin = origin
        self.accepted: list[Accepted] = []
        self.tried: list[Tried] = []

    def note(
        self,
        attempt: AttemptRow,
        scores: Readings,
        decision: DecisionRow,
        after: Progress,
        composite: CompositeRow | None = None,
    ) -> None:
        """Take in one recorded attempt; `after` is the position it led to, `composite` what its masked accept made."""
        self.try_candidate(attempt, scores)
        if not decision.closes_turn:
            return
        while self.accepted and self.accepted[-1].turn > after.image_turn:
            self.accepted.pop()
        if after.image_turn == attempt.turn:
            taken = next(tried for tried in self.tried if tried.attempt == decision.taken_attempt)
            seen = readings(composite.scores) if composite else taken.readings
            self.accepted.append(Accepted(attempt.turn, seen))
        self.tried = []

    def try_candidate(self, attempt: AttemptRow, scores: Readings) -> None:
        """Remember this turn's candidate, once."""
        if attempt.image is not None and all(tried.attempt != attempt.attempt for tried in self.tried):
            self.tried.append(Tried(attempt.attempt, attempt.image, scores))

    def past(self, turn: int, attempt: int, seed: int, damaged: bool | None) -> Past:
        """What the gate is shown."""
        return Past(turn, attempt, seed, self.origin, self.accepted, damaged)


# From a gate's decision to what happens next: pure functions over the policies of a run.

Action = Literal["accept", "retry", "skip", "force_accept", "keep_best", "rollback", "restart", "stop"]


@dataclass(frozen=True)
class RuledDecision:
    """A decision together with the rule that made it."""

    decision: Decision
    rule: str
    """`gate`, `on_unscored:reject`, `on_no_image:stop`, `human`, ..."""
    stop: bool = False
    """The rule ends the run, whatever the rejection policy says."""
    human: bool = field(default=False)
    """A person decided: a rejection is final for this attempt and is not asked again."""
    decided_by: str | None = None
    """That person's name, where it was given."""


def next_action(
    ruled: RuledDecision,
    progress: Progress,
    attempt: AttemptRow,
    tried: Sequence[Tried],
    policy: Rejection,
    origin: str,
    turns: int,
    now_ns: int,
) -> DecisionRow | None:
    """The row that records the decision and its consequence; None when a human must decide first.

    `tried` are the candidates of this turn so far, this attempt's (when it has one) included.
    """
    closing, stopped = True, False
    taken: int | None = None
    image, image_turn = progress.image, progress.image_turn
    action: Action
    if ruled.stop:
        action, stopped = "stop", True
    elif ruled.decision.verdict != "reject" and attempt.image is not None:
        action, taken = "accept", attempt.attempt
    elif attempt.retryable and attempt.attempt < policy.attempts:
        action, closing = "retry", False
    elif policy.then == "ask_human" and not ruled.human:
        return None
    else:
        action, taken = _ending(policy, attempt, tried)
    if action == "rollback":
        image_turn, image = _ancestor(progress, policy.rollback_turns, origin)
    elif action == "restart":
        image_turn, image = 0, origin
    elif taken is not None:
        chosen = attempt.image if taken == attempt.attempt else _image_of(tried, taken)
        if chosen is not None and chosen != progress.image:
            image, image_turn = chosen, attempt.turn
    status: Literal["running", "complete", "stopped", "attempts_exhausted"] = "running"
    if action == "stop":
        status = "stopped" if stopped else "attempts_exhausted"
    elif closing and attempt.turn >= turns:
        status = "complete"
    return DecisionRow(
        turn=attempt.turn,
        attempt=attempt.attempt,
        verdict=ruled.decision.verdict,
        rule=ruled.rule,
        decided_by=ruled.decided_by,
        reason=ruled.decision.reason,
        evidence=dict(ruled.decision.evidence),
        thresholds=dict(ruled.decision.thresholds),
        action=action,
        taken_attempt=taken,
        image_after=image,
        image_turn_after=image_turn,
        closes_turn=closing,
        status_after=status,
        at_ns=now_ns,
    )


def _ending(policy: Rejection, attempt: AttemptRow, tried: Sequence[Tried]) -> tuple[Action, int | None]:
    match policy.then:
        case "accept" | "accept_masked" if tried:
            return "force_accept", tried[-1].attempt
        case "keep_best" if best := best_of(tried, policy.best_by or ""):
            return "keep_best", best.attempt
        case "rollback":
            return "rollback", None
        case "restart":
            return "restart", None
        case "stop":
            return "stop", None
        case _:  # skip; also when there is no candidate to force, or a person said no
            return "skip", None


def _ancestor(progress: Progress, back: int, origin: str) -> tuple[int, str]:
    older = progress.lineage[:-back] if back < len(progress.lineage) else ()
    return older[-1] if older else (0, origin)


def _image_of(tried: Sequence[Tried], attempt: int) -> str | None:
    return next((candidate.image for candidate in tried if candidate.attempt == attempt), None)


def may_ask(config: RunConfig) -> bool:
    """A person may have to decide."""
    return config.on_unscored.policy == "ask_human" or config.on_reject.then == "ask_human"


def rule_decision(
    config: RunConfig,
    gate: Gate,
    gate_history: GateHistory,
    attempt: AttemptRow,
    scores: Sequence[ScoreRow],
    truth: TruthRow | None,
    review: EventRow | None,
) -> RuledDecision | None:
    """Which rule decides and how; None when a person must. `review` is what a person said about this attempt."""
    if review is not None:
        comment = f": {review.data['comment']}" if review.data.get("comment") else ""
        verdict: Verdict = "accept" if review.data["accept"] else "reject"
        said = Decision(verdict, f"a person said {verdict}{comment}")
        return RuledDecision(said, "human", human=True, decided_by=review.data.get("by") or None)
    if attempt.outcome == "no_image":
        reason = f"no image: {attempt.why}{': ' + attempt.detail if attempt.detail else ''}"
        stop = config.on_no_image == "stop"
        return RuledDecision(Decision("reject", reason), f"on_no_image:{config.on_no_image}", stop=stop)
    if attempt.outcome == "no_change" and config.on_no_change != "decide":
        rejected = Decision("reject", "the editor returned its input")
        return RuledDecision(rejected, f"on_no_change:{config.on_no_change}", stop=config.on_no_change == "stop")
    missing = lacking(gate, scores)
    if missing:
        policy = config.on_unscored.policy
        if policy == "ask_human":
            return None
        unscored: Verdict = "accept" if policy == "accept" else "reject"
        return RuledDecision(Decision(unscored, missing), f"on_unscored:{policy}", stop=policy == "stop")
    return RuledDecision(_ask(config, gate, gate_history, attempt, scores, truth), "gate")


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
    gate_history: GateHistory,
    attempt: AttemptRow,
    scores: Sequence[ScoreRow],
    truth: TruthRow | None,
) -> Decision:
    damaged = truth.damaged if truth and gate.reads_truth else None
    seed = derive(config.seed, "gate", attempt.turn, attempt.attempt)
    past = gate_history.past(attempt.turn, attempt.attempt, seed, damaged)
    try:
        return gate.decide({name: r for name, r in readings(scores).items() if name in gate.reads}, past)
    except TurngateError:
        raise
    except Exception as error:
        raise InternalError(
            f"gate {config.gate.type!r} broke at turn {attempt.turn} ({type(error).__name__}: {error}): "
            "mend it, then `turngate resume` decides this turn again"
        ) from error
