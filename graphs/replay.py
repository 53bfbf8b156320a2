"""What another gate would have decided about the candidates of a recorded run, as far as the record reaches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turngate.agent.gate import Gate
from turngate.agent.gates import GATES
from turngate.agent.scenario import Scenario
from turngate.agent.scenarios import SCENARIOS
from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, Evaluator, Skipped
from turngate.evaluators.scoring import score
from turngate.graphs.config import RunConfig
from turngate.graphs.decision import GateHistory, next_action, readings, rule_decision
from turngate.graphs.measure_step import origin_sample, sample_for, score_row
from turngate.graphs.origin import Pictures
from turngate.picture import Picture
from turngate.traces.progress import Progress, advance
from turngate.traces.records import AttemptRecord, DecisionRow, ScoreRow
from turngate.traces.run_folder import RunFolder

__all__ = ["FREE", "Counterfactual", "Redecided", "redecide"]


@dataclass(frozen=True)
class Redecided:
    """One recorded attempt with the decision that the other gate makes."""

    record: AttemptRecord
    decision: DecisionRow

    @property
    def changed(self) -> bool:
        """The turn goes on in another way than it was recorded."""
        return self.decision.action != self.record.decision.action


@dataclass(frozen=True)
class Counterfactual:
    """A run decided again. Valid up to the first divergence: from there on the recorded candidates were made from
    images that this gate would not have kept, and nothing can be said."""

    config: RunConfig
    steps: tuple[Redecided, ...]
    """Attempts that the record covers, in order."""
    diverged: str | None
    """Why the record ends too early for this gate, in one line; None when it covers the whole run."""
    status: str
    """Status of the run after the last step."""

    @property
    def turns(self) -> int:
        """Turns that were closed within the record."""
        return sum(step.decision.closes_turn for step in self.steps)


FREE = ("gate", "evaluators", "on_reject", "on_unscored", "on_no_image", "on_no_change")
"""Fields of the configuration that may differ from the recorded ones: they do not touch the candidates."""


def redecide(path: Path, config: RunConfig) -> Counterfactual:
    """Decide the recorded candidates of the run at `path` again, by the gate and policies of `config`.

    No editor is called. Scores are the recorded ones; an evaluator that the run does not have, or that is configured
    otherwise, looks at the stored images. Raises `ConfigError` when the gate reads what `config` does not evaluate, or
    when a person would have to decide.
    """
    run = RunFolder.existing(path)
    info = run.info()
    ledger = run.ledger()
    try:
        records, start = ledger.records(), ledger.origin().scores
    finally:
        ledger.close()
    gate: Gate = GATES.build(config.gate)
    scenario = SCENARIOS.build(config.scenario)
    for name in sorted(gate.reads):
        if name not in config.evaluators:
            raise ConfigError(f"gate reads evaluator {name!r}, which the run does not have: add --with {name}")
    recorded = info.recorded.evaluators
    fresh = {
        name: EVALUATORS.build(part)
        for name, part in config.evaluators.items()
        if name in gate.reads and (name not in recorded or recorded[name].as_mapping() != part.model_dump(mode="json"))
    }
    pictures = Pictures(run.images, Picture.from_bytes(run.images.get(info.origin.image), "the origin"))
    origin_rows = [row for row in start if row.evaluator not in fresh]
    origin_rows += [_of_origin(pictures, name, config, evaluator) for name, evaluator in fresh.items()]
    gate_history = GateHistory(readings(origin_rows))
    progress = Progress.start(pictures.origin.sha256)
    steps: list[Redecided] = []
    for record in records:
        attempt = record.attempt
        diverged = _divergence(record, progress, config.history)
        if diverged:
            return Counterfactual(config, tuple(steps), diverged, progress.status)
        scores = [row for row in record.scores if row.evaluator not in fresh]
        scores += [
            _of_candidate(pictures, progress, scenario, name, config, part, record) for name, part in fresh.items()
        ]
        seen = readings(scores)
        gate_history.try_candidate(attempt, seen)
        ruled = rule_decision(config, gate, gate_history, attempt, scores, record.truth, None)
        decided = None
        if ruled is not None:
            decided = next_action(
                ruled, progress, attempt, gate_history.tried, config.on_reject, pictures.origin.sha256, config.turns,
                record.decision.at_ns,
            )  # fmt: skip
        if decided is None:
            where = f"turn {attempt.turn}, attempt {attempt.attempt}"
            return Counterfactual(config, tuple(steps), f"{where} would wait for a person", "waiting")
        if decided.verdict == "accept_masked" or (config.on_reject.then == "accept_masked" and decided.taken_attempt):
            return Counterfactual(
                config, tuple(steps), "a masked accept makes an image that was never edited", "running"
            )
        steps.append(Redecided(record, decided))
        progress = advance(progress, decided)
        gate_history.note(attempt, seen, decided, progress)
        if progress.status != "running":
            return Counterfactual(config, tuple(steps), None, progress.status)
    return Counterfactual(config, tuple(steps), _end(records, progress), progress.status)


def _divergence(record: AttemptRecord, progress: Progress, history: str) -> str | None:
    attempt = record.attempt
    if (attempt.turn, attempt.attempt) != (progress.turn, progress.attempt):
        return f"turn {progress.turn}, attempt {progress.attempt} is owed, and was never made"
    if history != "origin" and attempt.input_image != progress.image:
        kept = f"turn {progress.image_turn}" if progress.image_turn else "the origin"
        return f"turn {attempt.turn} would edit the image of {kept}, and was recorded from another image"
    return None


def _end(records: Sequence[AttemptRecord], progress: Progress) -> str | None:
    if not records:
        return "the run has no attempt"
    return f"the record ends before turn {progress.turn}, attempt {progress.attempt}"


def _of_origin(pictures: Pictures, name: str, config: RunConfig, evaluator: Evaluator) -> ScoreRow:
    started = time.time_ns()
    result = score(evaluator, [origin_sample(pictures.origin)])[0]
    return score_row(0, 0, name, config.evaluators[name].type, evaluator, result, 1, started)


def _of_candidate(
    pictures: Pictures,
    progress: Progress,
    scenario: Scenario,
    name: str,
    config: RunConfig,
    evaluator: Evaluator,
    record: AttemptRecord,
) -> ScoreRow:
    attempt = record.attempt
    started = time.time_ns()
    result = (
        Skipped()
        if attempt.image is None
        else score(evaluator, [sample_for(pictures, progress, scenario, evaluator, attempt, attempt.image)])[0]
    )
    return score_row(attempt.turn, attempt.attempt, name, config.evaluators[name].type, evaluator, result, 1, started)
