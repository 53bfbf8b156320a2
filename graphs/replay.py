"""What another gate would have decided about the candidates of a recorded run, as far as the record reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from turngate.agent.gate import Gate
from turngate.agent.gates import GATES
from turngate.agent.scenario import Scenario
from turngate.agent.scenarios import SCENARIOS
from turngate.clock import Clock
from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, Evaluator, Skipped
from turngate.evaluators.scoring import score
from turngate.graphs.config import RunConfig
from turngate.graphs.decision import GateHistory, next_action, readings, rule_decision
from turngate.graphs.load import parse_config
from turngate.graphs.masked_accept import composable, skipped, taken_masked, taking
from turngate.graphs.measure_step import origin_sample, sample_for, score_row
from turngate.graphs.origin import Pictures
from turngate.picture import Picture
from turngate.traces.progress import Progress, advance
from turngate.traces.records import AttemptRecord, AttemptRow, CompositeRow, DecisionRow, ScoreRow
from turngate.traces.run_folder import RunFolder

__all__ = ["FREE", "Counterfactual", "Redecided", "redecide"]


@dataclass(frozen=True)
class Redecided:
    """One recorded attempt with the decision that the other gate makes."""

    record: AttemptRecord
    """As it was recorded."""
    decision: DecisionRow
    scores: tuple[ScoreRow, ...]
    """The recorded scores, and those of evaluators that looked at the stored image now."""
    composite: CompositeRow | None = None
    """What a masked accept of the other gate makes; None where it takes the candidate as it is, or not at all."""

    @property
    def changed(self) -> bool:
        """The turn goes on in another way than it was recorded."""
        recorded = self.record.decision
        return (self.decision.action, self.decision.image_after) != (recorded.action, recorded.image_after)

    @property
    def redecided(self) -> AttemptRecord:
        """The attempt as the other gate would have recorded it."""
        attempt = self.record.attempt
        if self.composite is None:
            extras = [extra for extra in attempt.extras if extra["role"] != "composite"]
            attempt = attempt.model_copy(update={"extras": extras})
        return AttemptRecord(attempt, self.scores, self.record.truth, self.decision, self.composite)


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
    run: tuple[AttemptRecord, ...] = ()
    """Everything that was recorded."""

    @property
    def turns(self) -> int:
        """Turns 1..n that were closed within the record."""
        return sum(step.decision.closes_turn for step in self.steps)

    @property
    def records(self) -> list[AttemptRecord]:
        """The attempts of turns 1..`turns` as the other gate would have recorded them.

        Attempts of a turn that is open when the record ends are left out: its result is not known.
        """
        return [step.redecided for step in self.steps if step.decision.turn <= self.turns]

    @property
    def recorded(self) -> list[AttemptRecord]:
        """The attempts of the same turns as they were recorded, those included that the other gate does not need."""
        return [record for record in self.run if record.attempt.turn <= self.turns]


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
        records, start = tuple(ledger.records()), ledger.origin().scores
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
    masking = parse_config(info.config, str(run.info_file)).on_reject.masking
    pictures = Pictures(run.images, Picture.from_bytes(run.images.get(info.origin.image), "the origin"))
    origin_rows = [row for row in start if row.evaluator not in fresh]
    origin_rows += [_of_origin(pictures, name, config, evaluator) for name, evaluator in fresh.items()]
    gate_history = GateHistory(readings(origin_rows))
    progress = Progress.start(pictures.origin.sha256)
    steps: list[Redecided] = []

    def ended(diverged: str | None, status: str) -> Counterfactual:
        return Counterfactual(config, tuple(steps), diverged, status, records)

    for record in records:
        attempt = record.attempt
        diverged = _divergence(record, progress, config.history)
        if diverged:
            return ended(diverged, progress.status)
        scores = _rescored(record.scores, attempt.image, attempt, pictures, progress, scenario, config, fresh)
        seen = readings(scores)
        gate_history.try_candidate(attempt, seen)
        ruled = rule_decision(config, gate, gate_history, attempt, scores, record.truth, None)
        decided = None
        if ruled is not None:
            ruled = replace(ruled, decision=composable(pictures, attempt, ruled.decision))
            decided = next_action(
                ruled, progress, attempt, gate_history.tried, config.on_reject, pictures.origin.sha256, config.turns,
                record.decision.at_ns,
            )  # fmt: skip
        if decided is None:
            return ended(f"turn {attempt.turn}, attempt {attempt.attempt} would wait for a person", "waiting")
        composite = None
        candidate = taken_masked(decided, attempt, gate_history.tried, config.on_reject)
        if candidate is not None:
            composite = record.composite
            if composite is None or composite.candidate != candidate or config.on_reject.masking != masking:
                return ended("a masked accept makes an image that was never edited", "running")
            if composite.image is None:
                decided = skipped(decided, progress, composite.why or "")
            else:
                decided = taking(decided, composite.image)
                again = _rescored(
                    composite.scores, composite.image, attempt, pictures, progress, scenario, config, fresh
                )
                composite = composite.model_copy(update={"scores": again})
        steps.append(Redecided(record, decided, tuple(scores), composite))
        progress = advance(progress, decided)
        gate_history.note(attempt, seen, decided, progress, composite)
        if progress.status != "running":
            return ended(None, progress.status)
    return ended(_end(records, progress), progress.status)


def _divergence(record: AttemptRecord, progress: Progress, history: str) -> str | None:
    attempt = record.attempt
    if (attempt.turn, attempt.attempt) != (progress.turn, progress.attempt):
        return f"turn {progress.turn}, attempt {progress.attempt} comes next, and was never made"
    if history != "origin" and attempt.input_image != progress.image:
        kept = f"turn {progress.image_turn}" if progress.image_turn else "the origin"
        return f"turn {attempt.turn} would edit the image of {kept}, and was recorded from another image"
    return None


def _end(records: Sequence[AttemptRecord], progress: Progress) -> str | None:
    if not records:
        return "the run has no attempt"
    return f"the record ends before turn {progress.turn}, attempt {progress.attempt}"


def _of_origin(pictures: Pictures, name: str, config: RunConfig, evaluator: Evaluator) -> ScoreRow:
    clock = Clock()
    started = clock.now_ns()
    result = score(evaluator, [origin_sample(pictures.origin)])[0]
    return score_row(0, 0, name, config.evaluators[name].type, evaluator, result, 1, started, clock.now_ns())


def _rescored(
    scores: Sequence[ScoreRow],
    image: str | None,
    attempt: AttemptRow,
    pictures: Pictures,
    progress: Progress,
    scenario: Scenario,
    config: RunConfig,
    fresh: Mapping[str, Evaluator],
) -> list[ScoreRow]:
    """`scores` of `image` with those of the `fresh` evaluators, in the order of the configuration."""
    found = {row.evaluator: row for row in scores}
    clock = Clock()
    for name, evaluator in fresh.items():
        started = clock.now_ns()
        result = (
            Skipped()
            if image is None
            else score(evaluator, [sample_for(pictures, progress, scenario, evaluator, attempt, image)])[0]
        )
        kind = config.evaluators[name].type
        found[name] = score_row(
            attempt.turn, attempt.attempt, name, kind, evaluator, result, 1, started, clock.now_ns()
        )
    order = {name: place for place, name in enumerate(config.evaluators)}
    return sorted(found.values(), key=lambda row: order.get(row.evaluator, len(order)))
