"""A masked accept: a composite becomes the current image, and is stored and scored as a candidate is."""

from __future__ import annotations

from typing import Any

from turngate.agent.gate import Decision
from turngate.errors import ConfigError
from turngate.graphs.compositing import compose, mismatch
from turngate.graphs.history import Position
from turngate.graphs.measure_step import measure, measure_truth
from turngate.graphs.session import Session
from turngate.picture import Picture
from turngate.traces.records import AttemptRow, DecisionRow

__all__ = ["composable", "masked"]


def composable(session: Session, attempt: AttemptRow, decision: Decision) -> Decision:
    """`decision`, or a rejection where it would take masked what cannot be laid over the image that was edited."""
    if decision.verdict != "accept_masked" or attempt.width is None or attempt.height is None:
        return decision
    base = session.pictures.get(attempt.input_image)
    why_not = mismatch((base.width, base.height), (attempt.width, attempt.height))
    if why_not is None:
        return decision
    return Decision("reject", f"{decision.reason}; cannot be masked: {why_not}", decision.evidence)


def masked(
    session: Session, position: Position, attempt: AttemptRow, row: DecisionRow
) -> tuple[AttemptRow, DecisionRow]:
    """`attempt` and `row` as they are; where `row` takes a candidate masked, with the composite in its place.

    Where nothing changed clearly, or the images do not fit, there is nothing to take and the turn is skipped.
    """
    policy = session.config.on_reject
    forced = row.action == "force_accept" and policy.then == "accept_masked"
    candidate = next((tried.image for tried in session.memory.tried if tried.attempt == row.taken_attempt), None)
    if candidate is None or candidate == attempt.input_image or not (forced or row.verdict == "accept_masked"):
        return attempt, row
    told: dict[str, Any] = {"base": attempt.input_image, "candidate": candidate, "image": None}
    try:
        made = compose(session.pictures.get(attempt.input_image), session.pictures.get(candidate), policy.masking)
    except ValueError as error:
        return attempt, _skipped(row, position, {**told, "why": str(error)})
    told["changed"] = made.changed
    if made.picture is None:
        return attempt, _skipped(row, position, {**told, "why": "no change of the candidate reaches masking.threshold"})
    session.pictures.put(made.picture)
    told |= {"image": made.picture.sha256, **_measured(session, attempt, made.picture)}
    extras = [*attempt.extras, {"image": made.picture.sha256, "role": "composite"}]
    taken = {"composite": told, "image_after": made.picture.sha256, "image_turn_after": row.turn}
    return attempt.model_copy(update={"extras": extras}), row.model_copy(update=taken)


def _skipped(row: DecisionRow, position: Position, told: dict[str, Any]) -> DecisionRow:
    return row.model_copy(
        update={
            "composite": told,
            "reason": f"{row.reason}; {told['why']}",
            "action": "skip",
            "taken_attempt": None,
            "image_after": position.image,
            "image_turn_after": position.image_turn,
        }
    )


def _measured(session: Session, attempt: AttemptRow, composite: Picture) -> dict[str, Any]:
    """The composite's own scores and truth: the candidate's say nothing about it."""
    if session.config.truth is not None and session.parts.truth is None:
        raise ConfigError(
            "truth.measure: a simulator does not know how damaged a composite is: measure truth with an evaluator"
        )
    shown = attempt.model_copy(update={"image": composite.sha256, "damage": None})
    scores = [measure(session, shown, name) for name in session.parts.evaluators]
    truth = measure_truth(session, shown)
    own = {"turn", "attempt", "started_ns", "ended_ns"}
    return {
        "scores": {
            score.evaluator: score.model_dump(mode="json", exclude={*own, "evaluator"}, exclude_defaults=True)
            for score in scores
        },
        "truth": truth.model_dump(mode="json", exclude=own) if truth else None,
    }
