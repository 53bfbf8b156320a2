"""From a gate's decision to what happens next: pure functions over the policies of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from turngate.agent.gate import Decision
from turngate.agent.rejection import Rejection, Tried, best_of
from turngate.graphs.history import Position
from turngate.traces.records import AttemptRow, DecisionRow

__all__ = ["Ruling", "settle"]

Action = Literal["accept", "retry", "skip", "force_accept", "keep_best", "rollback", "restart", "stop"]


@dataclass(frozen=True)
class Ruling:
    """A decision together with the rule that made it."""

    decision: Decision
    rule: str
    """`gate`, `on_unscored:reject`, `on_no_image:stop`, `human`, ..."""
    stop: bool = False
    """The rule ends the run, whatever the rejection policy says."""
    human: bool = field(default=False)
    """A person decided: a rejection is final for this attempt and is not asked again."""


def settle(
    ruling: Ruling,
    position: Position,
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
    image, image_turn = position.image, position.image_turn
    action: Action
    if ruling.stop:
        action, stopped = "stop", True
    elif ruling.decision.verdict != "reject" and attempt.image is not None:
        action, taken = "accept", attempt.attempt
    elif attempt.retryable and attempt.attempt < policy.attempts:
        action, closing = "retry", False
    elif policy.then == "ask_human" and not ruling.human:
        return None
    else:
        action, taken = _ending(policy, attempt, tried)
    if action == "rollback":
        image_turn, image = _ancestor(position, policy.rollback_turns, origin)
    elif action == "restart":
        image_turn, image = 0, origin
    elif taken is not None:
        chosen = attempt.image if taken == attempt.attempt else _image_of(tried, taken)
        if chosen is not None and chosen != position.image:
            image, image_turn = chosen, attempt.turn
    status: Literal["running", "complete", "stopped", "attempts_exhausted"] = "running"
    if action == "stop":
        status = "stopped" if stopped else "attempts_exhausted"
    elif closing and attempt.turn >= turns:
        status = "complete"
    return DecisionRow(
        turn=attempt.turn,
        attempt=attempt.attempt,
        verdict=ruling.decision.verdict,
        rule=ruling.rule,
        reason=ruling.decision.reason,
        evidence=dict(ruling.decision.evidence),
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


def _ancestor(position: Position, back: int, origin: str) -> tuple[int, str]:
    older = position.lineage[:-back] if back < len(position.lineage) else ()
    return older[-1] if older else (0, origin)


def _image_of(tried: Sequence[Tried], attempt: int) -> str | None:
    return next((candidate.image for candidate in tried if candidate.attempt == attempt), None)
