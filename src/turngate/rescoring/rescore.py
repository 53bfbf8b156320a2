"""Scores targets with evaluators; known results are not computed again, and every result is written as it comes."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from turngate.clock import Clock
from turngate.errors import one_line
from turngate.evaluators.bulk import Batcher, Inputs, NamedEvaluator, Scored, ScoreJob, inputs_hash, score_key
from turngate.evaluators.result import result_to_json
from turngate.rescoring.targets import ImagePlace, Target
from turngate.traces.position_bias import PositionBias, position_bias
from turngate.traces.provenance import provenance
from turngate.traces.records import Row
from turngate.traces.rescored import KnownResult, ScoredRow, ScoreTable, ScoringPass, ScoringPassEnd

__all__ = ["Known", "Rescoring", "ResultCounts"]


def row_key(job: ScoreJob, named: NamedEvaluator, inputs: Inputs, tries: int) -> str:
    """SHA-256 that makes two rows the same row."""
    evaluation = score_key(named.config, named.facts, inputs, named.parameters)
    return hashlib.sha256(json.dumps([job.id, evaluation, tries]).encode()).hexdigest()


@dataclass(frozen=True)
class Known:
    """What the table holds, by key."""

    rows: Mapping[str, KnownResult]

    def latest(self, job: ScoreJob, named: NamedEvaluator, inputs: Inputs) -> tuple[int, str | None]:
        """How often the evaluator was asked about this, and the key of the latest answer; 0 and None for never."""
        tries, found = 0, None
        while (key := row_key(job, named, inputs, tries + 1)) in self.rows:
            tries, found = tries + 1, key
        return tries, found


def scored_row(scored: Scored, pass_id: str, place: ImagePlace, tries: int) -> ScoredRow:
    """The row of a fresh result."""
    named, facts = scored.evaluator, scored.evaluator.facts
    shown = {str(role): value for role, value in asdict(scored.inputs).items() if role in facts.inputs and value}
    shown.pop("candidate", None)
    return ScoredRow(
        key=row_key(scored.job, named, scored.inputs, tries),
        scoring=pass_id,
        item=scored.job.id,
        turn=place.turn,
        attempt=place.attempt,
        role=place.role,
        image=scored.inputs.candidate,
        shown=shown,
        inputs=inputs_hash(facts, scored.inputs),
        evaluator=named.name,
        type=named.config.type,
        version=facts.version,
        parameters=named.parameters,
        direction=facts.direction,
        tries=tries,
        turngate=version("turngate"),
        row_version=3,
        started_ns=scored.started_ns,
        ended_ns=scored.ended_ns,
        **result_to_json(scored.result),
    )


HOLD_SECONDS = 0.3
"""Longest that a free result waits to be written: what a kill may cost."""


class ScoringPassLog:
    """Writes one scoring pass over one target with its first rows: a pass that finds nothing to do leaves no trace."""

    def __init__(self, target: Target, evaluators: Sequence[NamedEvaluator], table: ScoreTable) -> None:
        self.id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        self.added = 0
        self._target, self._evaluators, self._table = target, evaluators, table
        self._clock = Clock()
        self._started_ns = self._clock.now_ns()
        self._begun = False
        self._held: list[ScoredRow] = []
        self._written = time.monotonic()

    def add(self, rows: Sequence[ScoredRow], at_once: bool) -> None:
        """Write rows: at once, or within a fraction of a second, for a commit costs as much as a small image."""
        self._held += rows
        if at_once or time.monotonic() - self._written > HOLD_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._held:
            first: list[Row] = [] if self._begun else [self._row()]
            self.added += self._table.add([*first, *self._held]) - len(first)
            self._begun = True
            self._held = []
        self._written = time.monotonic()

    def end(self, status: Literal["complete", "interrupted", "failed"], reason: str | None) -> None:
        """Write what is held, and how the pass ended."""
        self.flush()
        if self._begun:
            ended = self._clock.now_ns()
            end = ScoringPassEnd(id=self.id, status=status, reason=reason, added=self.added, ended_ns=ended)
            self._table.add([end])

    def _row(self) -> ScoringPass:
        return ScoringPass(
            id=self.id,
            evaluators=[_metadata(named) for named in self._evaluators],
            images=self._target.images,
            chosen=len(self._target.jobs),
            selection=dict(self._target.selection),
            made_with=provenance(Path.cwd()),
            started_ns=self._started_ns,
        )


def _metadata(named: NamedEvaluator) -> dict[str, Any]:
    facts = named.facts
    return {
        "name": named.name,
        "type": named.config.type,
        "version": facts.version,
        "parameters": named.parameters,
        "settings": named.config.model_dump(mode="json"),
        "direction": facts.direction,
        "range": [str(bound) for bound in facts.range],
        "weights": facts.weights,
        "source": facts.source,
    }


@dataclass
class ResultCounts:
    """Results of one evaluator, counted: no mean without the number of images that have no score."""

    by_status: Counter[str] = field(default_factory=Counter)
    """Images by status."""
    values: list[float] = field(default_factory=list)
    """Of the scored candidates that are not untouched: origins are none, and a ceiling is no measurement."""
    untouched: int = 0
    """Scored candidates with the very pixels of what they were compared with."""
    origins: int = 0
    """Scored origins of runs."""
    faults: Counter[str] = field(default_factory=Counter)
    """Failures by who is at fault."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Images without a score by reason."""
    position_bias: PositionBias = field(default_factory=PositionBias)
    """Of a pairwise judge: which place its answers name."""

    def add(self, result: KnownResult) -> None:
        """Count one result."""
        self.by_status[result.status] += 1
        self.position_bias += position_bias([result.components]) or PositionBias()
        if result.status == "scored" and result.value is not None:
            if result.is_origin:
                self.origins += 1
            elif result.untouched:
                self.untouched += 1
            else:
                self.values.append(result.value)
        elif result.why:
            self.reasons[result.why] += 1
        if result.fault:
            self.faults[result.fault] += 1

    @property
    def mean(self) -> float | None:
        """Of `values`, within their smallest and largest; None without any."""
        if not self.values:
            return None
        return min(max(math.fsum(self.values) / len(self.values), min(self.values)), max(self.values))

    @property
    def only_failed(self) -> str | None:
        """Who is at fault when all results are failures."""
        failed = self.by_status["failed"]
        return self.faults.most_common(1)[0][0] if failed and failed == self.by_status.total() else None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            **{status: self.by_status[status] for status in ("scored", "unscored", "failed", "skipped")},
            "reasons": dict(self.reasons),
            "untouched": self.untouched,
            "origins": self.origins,
            "mean": self.mean,
            "min": min(self.values, default=None),
            "max": max(self.values, default=None),
            "position_bias": self.position_bias.model_dump() if self.position_bias.pairs else None,
        }


class Rescoring:
    """One `turngate score`: run it, then read the numbers."""

    def __init__(self, batcher: Batcher, retry_failed: bool = False) -> None:
        """`retry_failed`: ask again where the latest answer is a failure; the failure stays in the table."""
        self._batcher = batcher
        self._retry_failed = retry_failed
        self.counts = {named.name: ResultCounts() for named in batcher.evaluators}
        """Name -> results on the images that were asked for, new and old."""
        self.added = 0
        """New rows."""
        self.images = 0
        """Images that are finished."""
        self.idle = 0
        """Images among `images` whose results were all known."""

    def run(self, targets: Sequence[Target]) -> Iterator[int]:
        """Score target by target; yields the number of images that were finished, again and again.

        Raises what evaluators raise that would meet every later image too (a used-up quota), and `MachineError` when
        a table cannot be written. Closing the iterator ends the work; what was written stays.
        """
        for target in targets:
            with closing(ScoreTable(target.table)) as table:
                yield from self._score(target, table)

    def _score(self, target: Target, table: ScoreTable) -> Iterator[int]:
        known = Known(table.results())
        tries: dict[tuple[str, str], int] = {}
        old: list[tuple[str, str]] = []

        def is_owed(job: ScoreJob, named: NamedEvaluator, inputs: Inputs) -> bool:  # called from several threads
            asked, key = known.latest(job, named, inputs)
            if key is None or (self._retry_failed and known.rows[key].status == "failed"):
                tries[job.id, named.name] = asked + 1
                return True
            old.append((named.name, key))
            return False

        log = ScoringPassLog(target, self._batcher.evaluators, table)
        try:
            with closing(self._batcher.run(target.jobs, is_owed)) as steps:
                for step in steps:
                    rows = [
                        scored_row(one, log.id, target.place(one.job), tries[one.job.id, one.evaluator.name])
                        for one in step.scored
                    ]
                    log.add(rows, at_once=any(map(_is_dear, step.scored)))
                    for row in rows:
                        self.counts[row.evaluator].add(_known(row))
                    self.images += step.finished
                    self.idle += step.idle
                    yield step.finished
        except (KeyboardInterrupt, GeneratorExit, SystemExit) as error:
            log.end("interrupted", type(error).__name__)
            raise
        except BaseException as error:
            log.end("failed", one_line(error, 300))
            raise
        else:
            log.end("complete", None)
        finally:
            self.added += log.added
            for name, key in old:
                self.counts[name].add(known.rows[key])


def _known(row: ScoredRow) -> KnownResult:
    return KnownResult(row.status, row.value, row.why, row.fault, row.untouched, row.role == "origin", row.components)


def _is_dear(scored: Scored) -> bool:
    """It cost money, or more time than a kill may cost."""
    return scored.evaluator.facts.paid or scored.ended_ns - scored.started_ns > HOLD_SECONDS * 1e9
