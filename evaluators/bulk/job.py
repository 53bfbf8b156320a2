"""What is scored in bulk: images that are not opened yet, evaluators by name, and what comes out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from turngate.component import ComponentConfig
from turngate.errors import BadImage, DamagedRun, TurngateError
from turngate.evaluators import EVALUATORS
from turngate.evaluators.bulk.cache import Inputs, ScoreCache, cached_score, parameters_hash
from turngate.evaluators.evaluator import EvalInput, Evaluator, EvaluatorInput, Facts
from turngate.evaluators.result import Failed, Result
from turngate.memo import Memo
from turngate.picture import Picture

__all__ = [
    "ImageSource",
    "IsOwed",
    "LoadedJob",
    "NamedEvaluator",
    "ScoreJob",
    "Scored",
    "ScoringStep",
    "Shelf",
    "eval_inputs",
    "score_batch",
]


# An image that is not opened yet, and the pictures that many samples share.


@dataclass(frozen=True)
class ImageSource:
    """Where an image lies."""

    path: Path
    sha256: str | None = None
    """What its bytes must hash to, where that is recorded; None: whatever is there."""

    def read(self) -> bytes:
        """The file's bytes; raises `BadImage` when it cannot be read, `DamagedRun` when it is not what was recorded."""
        try:
            data = self.path.read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise BadImage(f"cannot read {self.path}: {getattr(error, 'strerror', None) or error}") from None
        if self.sha256 is not None and hashlib.sha256(data).hexdigest() != self.sha256:
            raise DamagedRun(f"{self.path} was changed after it was stored: restore it from a copy")
        return data


class Shelf:
    """References, hashed and decoded once; the latest `kept` pictures stay. Safe for several threads."""

    def __init__(self, kept: int = 24) -> None:
        self._pictures: Memo[Picture] = Memo(kept)
        self._hashes: Memo[str] = Memo(100_000)

    def hash_of(self, source: ImageSource) -> str:
        """SHA-256 of an image; raises as `ImageSource.read`."""
        if source.sha256 is not None:
            return source.sha256
        return self._hashes.get(source.path, lambda: hashlib.sha256(source.read()).hexdigest())

    def picture(self, source: ImageSource) -> Picture:
        """The decoded image; raises `BadImage` or `DamagedRun`."""
        return self._pictures.get(source.path, lambda: Picture.from_bytes(source.read(), str(source.path)))


@dataclass(frozen=True)
class ScoreJob:
    """One image to score, and what it may be compared with."""

    id: str
    """Names it among all items."""
    candidate: ImageSource
    origin: ImageSource | None = None
    first: ImageSource | None = None
    previous: ImageSource | None = None
    history: tuple[ImageSource, ...] = ()
    instruction: str | None = None


@dataclass(frozen=True, eq=False)
class NamedEvaluator:
    """An evaluator, its settings, and what it is called."""

    name: str
    config: ComponentConfig
    evaluator: Evaluator

    @property
    def facts(self) -> Facts:
        """The evaluator's facts."""
        return self.evaluator.facts

    @cached_property
    def parameters(self) -> str:
        """SHA-256 of the settings."""
        return parameters_hash(self.config)

    @property
    def is_light(self) -> bool:
        """It needs neither packages beyond the core nor anything else: every thread may have one of its own."""
        part = type(self.evaluator)
        return not (getattr(part, "requires", True) or hasattr(part, "missing") or hasattr(self.config, "members"))

    def another(self) -> Evaluator:
        """One more of the same."""
        return EVALUATORS.build(self.config)


@dataclass(frozen=True)
class Scored:
    """One result."""

    item: ScoreJob
    by: NamedEvaluator
    inputs: Inputs
    """What was shown, by hash; the candidate's is empty when its file could not be read."""
    result: Result
    started_ns: int
    ended_ns: int


@dataclass(frozen=True)
class ScoringStep:
    """Progress: new results, and how many images are done with."""

    scored: tuple[Scored, ...] = ()
    finished: int = 0
    """Images that are done with, those with nothing owed included."""
    idle: int = 0
    """Of those: nothing was owed."""


IsOwed = Callable[[ScoreJob, NamedEvaluator, Inputs], bool]
"""Whether a result is still wanted; may be called from several threads."""


# One item while it is worked on: hashed at once, decoded when the first evaluator wants to see it.


@dataclass
class LoadedJob:
    """An item, the hashes of what it shows, and its picture."""

    item: ScoreJob
    inputs: Inputs
    shelf: Shelf
    data: bytes | None = None
    problem: TurngateError | None = None
    """Why it cannot be shown to anyone."""

    @classmethod
    def of(cls, item: ScoreJob, needs: frozenset[EvaluatorInput], shelf: Shelf) -> LoadedJob:
        """Hash what is not known by its hash; of the references those that are in `needs`."""
        try:
            if item.candidate.sha256 is not None:
                return cls(item, _inputs(item, item.candidate.sha256, needs, shelf), shelf)
            data = item.candidate.read()
            return cls(item, _inputs(item, hashlib.sha256(data).hexdigest(), needs, shelf), shelf, data)
        except TurngateError as error:
            return cls(item, Inputs(item.candidate.sha256 or ""), shelf, problem=error)

    @cached_property
    def picture(self) -> Picture:
        """The decoded candidate; raises `BadImage` or `DamagedRun`."""
        data = self.item.candidate.read() if self.data is None else self.data
        return Picture.from_bytes(data, str(self.item.candidate.path))

    def sample(self, facts: Facts) -> EvalInput:
        """What this evaluator is shown; raises `BadImage` or `DamagedRun`."""
        if self.problem is not None:
            raise self.problem
        item, shown = self.item, self.shelf.picture
        return EvalInput(
            self.picture,
            origin=shown(item.origin) if item.origin and "origin" in facts.inputs else None,
            first=shown(item.first) if item.first and "first" in facts.inputs else None,
            previous=shown(item.previous) if item.previous and "previous" in facts.inputs else None,
            history=tuple(map(shown, item.history)) if "history" in facts.inputs else (),
            instruction=item.instruction if "instruction" in facts.inputs else None,
        )


def _inputs(item: ScoreJob, candidate: str, needs: frozenset[EvaluatorInput], shelf: Shelf) -> Inputs:
    known = shelf.hash_of
    return Inputs(
        candidate,
        origin=known(item.origin) if item.origin and "origin" in needs else None,
        first=known(item.first) if item.first and "first" in needs else None,
        previous=known(item.previous) if item.previous and "previous" in needs else None,
        history=tuple(map(known, item.history)) if "history" in needs else (),
        instruction=item.instruction if "instruction" in needs else None,
    )


# One evaluator's look at one batch: what cannot be shown to it is a result too.


def eval_inputs(facts: Facts, batch: Sequence[LoadedJob]) -> list[EvalInput | Failed]:
    """Decode what an evaluator is shown; an image that cannot be read is `Failed`."""
    shown: list[EvalInput | Failed] = []
    for one in batch:
        try:
            shown.append(one.sample(facts))
        except TurngateError as error:
            shown.append(Failed(error.fault, type(error).__name__, str(error)))
    return shown


def score_batch(
    by: NamedEvaluator,
    evaluator: Evaluator,
    cache: ScoreCache | None,
    batch: Sequence[LoadedJob],
    shown: Sequence[EvalInput | Failed],
) -> list[Scored]:
    """Results of `evaluator` (the one of `by`, or another like it) on what `eval_inputs` gave for the batch."""
    started = time.time_ns()
    answers = iter(cached_score(cache, evaluator, by.config, [one for one in shown if isinstance(one, EvalInput)]))
    ended = time.time_ns()
    results: list[Result] = [next(answers) if isinstance(one, EvalInput) else one for one in shown]
    return [
        Scored(one.item, by, one.inputs, result, started, ended) for one, result in zip(batch, results, strict=True)
    ]
