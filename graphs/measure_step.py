"""Step 2 of an attempt: score the candidate, and measure the truth that gates never see."""

from __future__ import annotations

import time

from turngate.agent.scenario import ideal_picture
from turngate.component import Direction
from turngate.evaluators import EvalInput, Evaluator, Result, Score, Skipped
from turngate.evaluators.bulk import cached_score, default_cache
from turngate.evaluators.result import result_from_json, result_to_json, why
from turngate.evaluators.scoring import score
from turngate.graphs.origin import Pictures
from turngate.graphs.session import Session
from turngate.picture import Picture
from turngate.providers.calling import below
from turngate.traces.ledger import call_key, once
from turngate.traces.progress import Progress
from turngate.traces.records import AttemptRow, ScoreRow, TruthRow, is_damaged
from turngate.traces.telemetry import request_headers

__all__ = ["measure", "measure_origin", "measure_truth", "origin_sample", "sample_for", "score_row"]


def measure(session: Session, attempt: AttemptRow, evaluator: str) -> ScoreRow:
    """Score the candidate with one evaluator; asked again as the policy says when the gate depends on it."""
    again = session.config.on_unscored.policy == "retry_evaluator" and evaluator in session.components.gate.reads
    tries = session.config.on_unscored.tries if again else 1
    for number in range(1, tries + 1):
        row = _score(session, attempt, evaluator, number)
        if row.status == "scored":
            break
    return row


def measure_truth(session: Session, attempt: AttemptRow) -> TruthRow | None:
    """The truth about the candidate of `attempt`; None without a truth or without a candidate."""
    config = session.config.truth
    if config is None or attempt.image is None:
        return None
    if session.components.truth is None:
        damage = attempt.damage
        detail = "" if damage is not None else "the simulator recorded none"
        return _truth(attempt.turn, attempt.attempt, "simulator", damage, config.damaged_at, "lower", detail)
    sample = EvalInput(session.pictures.get(attempt.image), origin=_ideal(session, attempt))
    return _measured_truth(session, session.components.truth, attempt.turn, attempt.attempt, sample)


def measure_origin(session: Session) -> tuple[list[ScoreRow], TruthRow | None]:
    """Scores and truth of the origin, as turn 0, attempt 0, for evaluators that have not looked at it yet."""
    sample = origin_sample(session.origin)
    rows = []
    for name, evaluator in session.components.evaluators.items():
        if name not in session.gate_history.origin:
            started = time.time_ns()
            result = _score_once(session, evaluator, name, (0, 0), sample, 1)
            kind = session.config.evaluators[name].type
            rows.append(score_row(0, 0, name, kind, evaluator, result, 1, started))
    truth = session.config.truth
    if truth is None:
        return rows, None
    if session.components.truth is None:
        return rows, _truth(0, 0, "simulator", 0.0, truth.damaged_at, "lower", "")
    return rows, _measured_truth(session, session.components.truth, 0, 0, sample)


def _ideal(session: Session, attempt: AttemptRow) -> Picture:
    """What a perfect editor would have made: the origin after the operations of the turns that led to the candidate.

    Skipped turns, and those that were rolled back, are not in the lineage; an editor that was given the origin carries
    out its own turn alone.
    """
    scenario = session.components.scenario
    if scenario.ideal == "origin":
        return session.origin
    turns = [turn for turn, _ in session.progress.lineage if turn <= attempt.input_turn] + [attempt.turn]
    return ideal_picture(session.origin, (name for turn in turns for name in scenario.instruction(turn).exact))


def _score(session: Session, attempt: AttemptRow, name: str, tries: int = 1) -> ScoreRow:
    """One evaluator's result on the candidate of `attempt`."""
    evaluator = session.components.evaluators[name]
    started = time.time_ns()
    if attempt.image is None:
        result: Result = Skipped()
    else:
        sample = sample_for(session.pictures, session.progress, evaluator, attempt, attempt.image)
        result = _score_once(session, evaluator, name, (attempt.turn, attempt.attempt), sample, tries)
    kind = session.config.evaluators[name].type
    return score_row(attempt.turn, attempt.attempt, name, kind, evaluator, result, tries, started)


def origin_sample(origin: Picture) -> EvalInput:
    """What an evaluator is shown of the origin: everything that it is compared with is the origin itself."""
    return EvalInput(origin, origin=origin, first=origin, previous=origin, instruction="")


def sample_for(
    pictures: Pictures, progress: Progress, evaluator: Evaluator, attempt: AttemptRow, candidate: str
) -> EvalInput:
    """What an evaluator is shown of a candidate: the candidate, and what it says it needs."""
    inputs = evaluator.facts.inputs
    return EvalInput(
        candidate=pictures.get(candidate),
        origin=pictures.origin if "origin" in inputs else None,
        first=pictures.get(progress.first(candidate)) if "first" in inputs else None,
        previous=pictures.get(progress.image) if "previous" in inputs else None,
        history=tuple(map(pictures.get, progress.history)) if "history" in inputs else (),
        instruction=attempt.instruction if "instruction" in inputs else None,
    )


def _score_once(
    session: Session, evaluator: Evaluator, name: str, place: tuple[int, int], sample: EvalInput, tries: int
) -> Result:
    """The result; calls that it costs hang below this evaluation in a trace."""
    with below(request_headers(*place, name)):
        return _stored(session, evaluator, name, place, sample, tries)


def _stored(
    session: Session, evaluator: Evaluator, name: str, place: tuple[int, int], sample: EvalInput, tries: int
) -> Result:
    """The result, stored before it is used where asking again would cost or give something else."""
    facts = evaluator.facts
    if facts.deterministic and not facts.paid:
        cache = default_cache() if session.config.score_cache else None
        return cached_score(cache, evaluator, session.config.evaluators[name], [sample])[0]
    pictures = (sample.candidate, sample.origin, sample.first, sample.previous, *sample.history)
    hashes = [picture.sha256 for picture in pictures if picture is not None]
    parameters = {
        "name": name,
        "version": facts.version,
        "config": session.config.evaluators[name].model_dump(mode="json"),
        "instruction": sample.instruction,
        "try": tries,
    }
    key = call_key("evaluate", session.info.run, *place, hashes, parameters)
    call = once(
        session.ledger, key, "evaluate", *place,
        lambda: result_to_json(score(evaluator, [sample])[0]),
    )  # fmt: skip
    return result_from_json(call.answer)


def _measured_truth(session: Session, evaluator: Evaluator, turn: int, attempt: int, sample: EvalInput) -> TruthRow:
    assert session.config.truth is not None
    result = score(evaluator, [sample])[0]
    value, detail = (result.value, "") if isinstance(result, Score) else (None, why(result))
    facts = evaluator.facts
    row = _truth(turn, attempt, facts.name, value, session.config.truth.damaged_at, facts.direction, detail)
    found = {
        "flags": [] if isinstance(result, Skipped) else list(result.flags),
        "components": dict(result.components) if isinstance(result, Score) else {},
    }
    return row.model_copy(update=found)


def _truth(
    turn: int, attempt: int, measure: str, value: float | None, damaged_at: float, better: Direction, detail: str
) -> TruthRow:
    damaged = is_damaged(value, damaged_at, better)
    return TruthRow(
        turn=turn, attempt=attempt, measure=measure, value=value, damaged_at=damaged_at, damaged=damaged, detail=detail
    )


def score_row(
    turn: int, attempt: int, name: str, kind: str, evaluator: Evaluator, result: Result, tries: int, started: int
) -> ScoreRow:
    """A result as a row of the ledger; `started` in Unix nanoseconds."""
    return ScoreRow(
        turn=turn,
        attempt=attempt,
        evaluator=name,
        type=kind,
        version=evaluator.facts.version,
        direction=evaluator.facts.direction,
        tries=tries,
        started_ns=started,
        ended_ns=time.time_ns(),
        **result_to_json(result),
    )
