"""Step 2 of an attempt: score the candidate, and measure the truth that gates never see."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from turngate.agent.scenario import Scenario, ideal_picture
from turngate.component import Box, ComponentConfig, Direction
from turngate.evaluators import EvalInput, Evaluator, Result, Score, Skipped
from turngate.evaluators.bulk import cached_score, default_cache
from turngate.evaluators.result import IDENTICAL, result_from_json, result_to_json, why
from turngate.evaluators.scoring import at_its_size, score
from turngate.graphs.origin import Pictures
from turngate.graphs.session import Session
from turngate.picture import Picture
from turngate.providers.calling import below
from turngate.traces.ledger import call_key, once
from turngate.traces.progress import Progress
from turngate.traces.records import AttemptRow, ScoreRow, TruthRow, is_damaged
from turngate.traces.telemetry import request_headers

__all__ = ["edit_boxes", "measure", "measure_origin", "measure_truths", "origin_sample", "sample_for", "score_row"]


def measure(session: Session, attempt: AttemptRow, evaluator: str) -> ScoreRow:
    """Score the candidate with one evaluator; asked again as the policy says when the gate depends on it."""
    again = session.config.on_unscored.policy == "retry_evaluator" and evaluator in session.components.gate.reads
    tries = session.config.on_unscored.tries if again else 1
    for number in range(1, tries + 1):
        row = _score(session, attempt, evaluator, number)
        if row.status == "scored":
            break
    return row


def measure_truths(session: Session, attempt: AttemptRow) -> tuple[TruthRow, ...]:
    """The truths about the candidate of `attempt`, the leading one first; none without a truth or a candidate."""
    if attempt.image is None:
        return ()
    found = []
    for name, evaluator in session.components.truths.items():
        place = TruthKey(attempt.turn, attempt.attempt, name)
        if evaluator is None:
            damage, untouched = attempt.damage, attempt.image == session.origin.sha256
            found.append(_recorded(session, place, damage, untouched))
            continue
        scenario = session.components.scenario
        sample = sample_for(session.pictures, session.progress, scenario, evaluator, attempt, attempt.image)
        if sample.origin is not None and not evaluator.facts.looks_at_the_rest and scenario.ideal:
            ideal = _ideal(session, attempt)
            if ideal is None:
                found.append(_unknown_ideal(session, evaluator, place))
                continue
            sample = replace(sample, origin=ideal)
        found.append(_measured_truth(session, evaluator, place, sample))
    return tuple(found)


def measure_origin(session: Session) -> tuple[list[ScoreRow], tuple[TruthRow, ...]]:
    """Scores and truths of the origin, as turn 0, attempt 0, for evaluators that have not looked at it yet."""
    sample = origin_sample(session.origin)
    rows = []
    for name, evaluator in session.components.evaluators.items():
        if name not in session.gate_history.origin:
            started = session.ledger.now_ns()
            part = session.config.evaluators[name]
            result = _score_once(session, evaluator, part, name, (0, 0), sample, 1)
            rows.append(score_row(0, 0, name, part.type, evaluator, result, 1, started, session.ledger.now_ns()))
    truths = [
        _recorded(session, TruthKey(0, 0, name), 0.0, untouched=True)
        if evaluator is None
        else _measured_truth(session, evaluator, TruthKey(0, 0, name), sample)
        for name, evaluator in session.components.truths.items()
    ]
    return rows, tuple(truths)


def _turns(progress: Progress, attempt: AttemptRow) -> list[int]:
    """The turns that led to the candidate, its own last.

    Skipped turns, and those that were rolled back, are not in the lineage; an editor that was given the origin carries
    out its own turn alone.
    """
    return [turn for turn, _ in progress.lineage if turn <= attempt.input_turn] + [attempt.turn]


def _ideal(session: Session, attempt: AttemptRow) -> Picture | None:
    """What a perfect editor would have made: the origin after the operations of the turns that led to the candidate.

    None where nobody can compute it.
    """
    scenario = session.components.scenario
    if scenario.ideal == "origin":
        return session.origin
    operations = (name for turn in _turns(session.progress, attempt) for name in scenario.instruction(turn).exact)
    return ideal_picture(session.origin, operations)


def edit_boxes(scenario: Scenario, progress: Progress, attempt: AttemptRow) -> tuple[Box, ...] | None:
    """Where the turns that led to the candidate meant to change something; None where one of them does not say."""
    found = [scenario.instruction(turn).edit_boxes for turn in _turns(progress, attempt)]
    known = [boxes for boxes in found if boxes is not None]
    return tuple(dict.fromkeys(chain(*known))) if len(known) == len(found) else None


def _score(session: Session, attempt: AttemptRow, name: str, tries: int = 1) -> ScoreRow:
    """One evaluator's result on the candidate of `attempt`."""
    evaluator, part = session.components.evaluators[name], session.config.evaluators[name]
    started = session.ledger.now_ns()
    if attempt.image is None:
        result: Result = Skipped()
    else:
        scenario = session.components.scenario
        sample = sample_for(session.pictures, session.progress, scenario, evaluator, attempt, attempt.image)
        result = _score_once(session, evaluator, part, name, (attempt.turn, attempt.attempt), sample, tries)
        shown, origin = sample.candidate, session.origin
        result = at_its_size(evaluator.facts, result, (shown.width, shown.height), (origin.width, origin.height))
    ended = session.ledger.now_ns()
    return score_row(attempt.turn, attempt.attempt, name, part.type, evaluator, result, tries, started, ended)


def origin_sample(origin: Picture) -> EvalInput:
    """What an evaluator is shown of the origin: everything that it is compared with is the origin itself."""
    return EvalInput(origin, origin=origin, first=origin, previous=origin, instruction="", edit_boxes=())


def sample_for(
    pictures: Pictures,
    progress: Progress,
    scenario: Scenario,
    evaluator: Evaluator,
    attempt: AttemptRow,
    candidate: str,
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
        edit_boxes=edit_boxes(scenario, progress, attempt) if "edit_boxes" in inputs else None,
    )


def _score_once(
    session: Session,
    evaluator: Evaluator,
    part: ComponentConfig,
    name: str,
    place: tuple[int, int],
    sample: EvalInput,
    tries: int,
) -> Result:
    """The result; calls that it costs hang below this evaluation in a trace."""
    with below(request_headers(*place, name)):
        return _stored(session, evaluator, part, name, place, sample, tries)


def _stored(
    session: Session,
    evaluator: Evaluator,
    part: ComponentConfig,
    name: str,
    place: tuple[int, int],
    sample: EvalInput,
    tries: int,
) -> Result:
    """The result, stored before it is used where asking again would cost or give something else."""
    facts = evaluator.facts
    if facts.deterministic and not facts.paid:
        cache = default_cache() if session.config.score_cache else None
        return cached_score(cache, evaluator, part, [sample])[0]
    pictures = (sample.candidate, sample.origin, sample.first, sample.previous, *sample.history)
    hashes = [picture.sha256 for picture in pictures if picture is not None]
    parameters: dict[str, Any] = {
        "name": name,
        "version": facts.version,
        "config": part.model_dump(mode="json"),
        "instruction": sample.instruction,
        "try": tries,
    }
    if sample.edit_boxes is not None:
        parameters["edit_boxes"] = sample.edit_boxes
    key = call_key("evaluate", session.info.run, *place, hashes, parameters)
    call = once(
        session.ledger, key, "evaluate", *place,
        lambda: result_to_json(score(evaluator, [sample])[0]),
        session.reserve if evaluator.facts.paid else None,
    )  # fmt: skip
    return result_from_json(call.answer)


class TruthKey(NamedTuple):
    """Which truth about which candidate; turn 0, attempt 0 is the origin."""

    turn: int
    attempt: int
    name: str


def _measured_truth(session: Session, evaluator: Evaluator, place: TruthKey, sample: EvalInput) -> TruthRow:
    truth, facts = session.config.truths[place.name], evaluator.facts
    assert truth.measure != "simulator"
    if facts.deterministic:  # a truth never comes from the score cache: it is measured by the version that is here
        result = score(evaluator, [sample])[0]
    else:  # asked again after a crash it might say something else
        name = f"truth:{place.name}"  # no evaluator of the run: one of that name has calls of its own
        result = _score_once(session, evaluator, truth.measure, name, (place.turn, place.attempt), sample, 1)
    value, detail = (result.value, "") if isinstance(result, Score) else (None, why(result))
    flags = [] if isinstance(result, Skipped) else list(result.flags)
    parts = dict(result.components) if isinstance(result, Score) else {}
    row = _truth(place, facts.name, value, truth.damaged_at, facts.direction)
    return row.model_copy(update={"detail": detail, "flags": flags, "components": parts})


def _unknown_ideal(session: Session, evaluator: Evaluator, place: TruthKey) -> TruthRow:
    """No truth: the turn is one of those whose ideal nobody can compute."""
    truth, facts = session.config.truths[place.name], evaluator.facts
    row = _truth(place, facts.name, None, truth.damaged_at, facts.direction)
    return row.model_copy(update={"detail": "what a perfect editor would have made is not known at this turn"})


def _recorded(session: Session, place: TruthKey, damage: float | None, untouched: bool) -> TruthRow:
    """A simulator's own record of its damage."""
    row = _truth(place, "simulator", damage, session.config.truths[place.name].damaged_at, "lower")
    detail = "" if damage is not None else "the simulator recorded none"
    return row.model_copy(update={"detail": detail, "flags": [IDENTICAL] if untouched else []})


def _truth(place: TruthKey, measure: str, value: float | None, damaged_at: float, better: Direction) -> TruthRow:
    damaged = is_damaged(value, damaged_at, better)
    return TruthRow(**place._asdict(), measure=measure, value=value, damaged_at=damaged_at, damaged=damaged)


def score_row(
    turn: int,
    attempt: int,
    name: str,
    kind: str,
    evaluator: Evaluator,
    result: Result,
    tries: int,
    started_ns: int,
    ended_ns: int,
) -> ScoreRow:
    """A result as a row of the ledger; moments in Unix nanoseconds."""
    return ScoreRow(
        turn=turn,
        attempt=attempt,
        evaluator=name,
        type=kind,
        version=evaluator.facts.version,
        direction=evaluator.facts.direction,
        tries=tries,
        started_ns=started_ns,
        ended_ns=ended_ns,
        **result_to_json(result),
    )
