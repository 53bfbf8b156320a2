"""What is scored in bulk: images that are not decoded yet, evaluators by name, and their results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from turngate.clock import Clock
from turngate.component import Box, ComponentConfig
from turngate.errors import BadImage, DamagedRun, TurngateError
from turngate.evaluators import EVALUATORS
from turngate.evaluators.bulk.cache import Inputs, ScoreCache, cached_score, parameters_hash
from turngate.evaluators.evaluator import EvalInput, Evaluator, EvaluatorInput, Facts
from turngate.evaluators.result import Failed, Result
from turngate.evaluators.scoring import at_its_size
from turngate.memo import Memo
from turngate.picture import Picture

__all__ = [
    "ImageSource",
    "IsOwed",
    "LoadedJob",
    "NamedEvaluator",
    "ReferenceCache",
    "ScoreJob",
    "Scored",
    "ScoringStep",
    "eval_inputs",
    "score_batch",
]


@dataclass(frozen=True)
class ImageSource:
    """The file of an image."""

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


class ReferenceCache:
    """References, hashed and decoded once; the latest `kept` pictures stay. Safe for several threads."""

    def __init__(self, kept: int = 24) -> None:
        self._pictures: Memo[Picture] = Memo(kept)
        self._hashes: Memo[str] = Memo(100_000)

    def sha256(self, source: ImageSource) -> str:
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
    """Unique among the jobs of a target."""
    candidate: ImageSource
    origin: ImageSource | None = None
    first: ImageSource | None = None
    previous: ImageSource | None = None
    history: tuple[ImageSource, ...] = ()
    instruction: str | None = None
    edit_boxes: tuple[Box, ...] | None = None
    origin_size: tuple[int, int] | None = None
    """Width and height of the run's origin in pixels; None for an image of no run."""

    def references(self, roles: frozenset[EvaluatorInput], load: Callable[[ImageSource], Any]) -> dict[str, Any]:
        """Role -> what `load` makes of its image or images, for these roles; and the instruction and edit boxes."""
        found: dict[str, Any] = {"history": tuple(map(load, self.history))} if "history" in roles else {}
        for role in ("origin", "first", "previous"):
            source = getattr(self, role)
            if role in roles and source is not None:
                found[role] = load(source)
        if "instruction" in roles:
            found["instruction"] = self.instruction
        if "edit_boxes" in roles:
            found["edit_boxes"] = self.edit_boxes
        return found


@dataclass(frozen=True, eq=False)
class NamedEvaluator:
    """An evaluator, its settings, and its name in the results."""

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
        component = type(self.evaluator)
        return not (
            getattr(component, "requires", True) or hasattr(component, "missing") or hasattr(self.config, "members")
        )

    def another(self) -> Evaluator:
        """A second evaluator with the same settings."""
        return EVALUATORS.build(self.config)


@dataclass(frozen=True)
class Scored:
    """One result."""

    job: ScoreJob
    evaluator: NamedEvaluator
    inputs: Inputs
    """Hashes of what was looked at; the candidate's is empty when its file could not be read."""
    result: Result
    started_ns: int
    ended_ns: int


@dataclass(frozen=True)
class ScoringStep:
    """Progress: new results, and the number of images that are finished."""

    scored: tuple[Scored, ...] = ()
    finished: int = 0
    """Images that are finished, those that owed nothing included."""
    idle: int = 0
    """Images among `finished` that owed nothing."""


IsOwed = Callable[[ScoreJob, NamedEvaluator, Inputs], bool]
"""Whether a result is still wanted; may be called from several threads."""


@dataclass
class LoadedJob:
    """A job in work: its images are hashed at once, and decoded for the first evaluator that looks at them."""

    job: ScoreJob
    inputs: Inputs
    references: ReferenceCache
    data: bytes | None = None
    problem: TurngateError | None = None
    """Why no evaluator can look at it."""

    @classmethod
    def of(cls, job: ScoreJob, roles: frozenset[EvaluatorInput], references: ReferenceCache) -> LoadedJob:
        """Hash what has no recorded hash; of the references those in `roles`."""
        data, sha256 = None, job.candidate.sha256
        try:
            if sha256 is None:
                data = job.candidate.read()
                sha256 = hashlib.sha256(data).hexdigest()
            return cls(job, Inputs(sha256, **job.references(roles, references.sha256)), references, data)
        except TurngateError as error:
            return cls(job, Inputs(job.candidate.sha256 or ""), references, problem=error)

    @cached_property
    def picture(self) -> Picture:
        """The decoded candidate; raises `BadImage` or `DamagedRun`."""
        data = self.job.candidate.read() if self.data is None else self.data
        return Picture.from_bytes(data, str(self.job.candidate.path))

    def eval_input(self, facts: Facts) -> EvalInput:
        """What an evaluator with these facts looks at; raises `BadImage` or `DamagedRun`."""
        if self.problem is not None:
            raise self.problem
        return EvalInput(self.picture, **self.job.references(facts.inputs, self.references.picture))


def eval_inputs(facts: Facts, batch: Sequence[LoadedJob]) -> list[EvalInput | Failed]:
    """Decode what an evaluator looks at; an image that cannot be read is `Failed`."""
    inputs: list[EvalInput | Failed] = []
    for loaded in batch:
        try:
            inputs.append(loaded.eval_input(facts))
        except TurngateError as error:
            inputs.append(Failed(error.fault, type(error).__name__, str(error)))
    return inputs


def score_batch(
    named: NamedEvaluator,
    evaluator: Evaluator,
    cache: ScoreCache | None,
    batch: Sequence[LoadedJob],
    inputs: Sequence[EvalInput | Failed],
) -> list[Scored]:
    """Results of `evaluator` (that of `named`, or another of its settings) on what `eval_inputs` gave for the batch."""
    clock = Clock()
    started = clock.now_ns()
    whole = [each for each in inputs if isinstance(each, EvalInput)]
    answers = iter(cached_score(cache, evaluator, named.config, whole))
    ended = clock.now_ns()
    results: list[Result] = [
        at_its_size(named.facts, next(answers), (each.candidate.width, each.candidate.height), loaded.job.origin_size)
        if isinstance(each, EvalInput)
        else each
        for loaded, each in zip(batch, inputs, strict=True)
    ]
    return [
        Scored(loaded.job, named, loaded.inputs, result, started, ended)
        for loaded, result in zip(batch, results, strict=True)
    ]
