"""Scores many images with many evaluators: each image is decoded once, each evaluator gets batches."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from turngate.errors import TurngateError
from turngate.evaluators._opened import Opened
from turngate.evaluators.evaluator import Evaluator, Sample
from turngate.evaluators.image_source import Shelf
from turngate.evaluators.item import Item, Named, Scored
from turngate.evaluators.result import Failed, Result
from turngate.evaluators.score_cache import ScoreCache, cacheable, cached_score
from turngate.evaluators.score_key import Inputs

__all__ = ["Batcher", "IsOwed", "Step"]

IsOwed = Callable[[Item, Named, Inputs], bool]
"""Whether a result is still wanted; called from several threads."""


@dataclass(frozen=True)
class Step:
    """Progress: new results, and how many images are done with."""

    scored: tuple[Scored, ...] = ()
    finished: int = 0
    """Images that are done with, those with nothing owed included."""
    idle: int = 0
    """Of those: nothing was owed."""


class Batcher:
    """Works through images in threads. No evaluator is asked twice at a time, so none need be thread-safe: each thread
    has light ones of its own, the others are shared in turns.
    """

    def __init__(
        self, evaluators: Sequence[Named], cache: ScoreCache | None = None, jobs: int = 2, batch: int = 4
    ) -> None:
        """`jobs` threads; `batch` images are given to an evaluator at a time (1 where one of them is paid for)."""
        self.evaluators = tuple(evaluators)
        self._cache = cache
        # Whoever depends on the order of calls gets it.
        self._jobs = jobs if all(cacheable(by.facts) or by.facts.paid for by in evaluators) else 1
        self._batch = 1 if any(by.facts.paid for by in evaluators) else batch
        self._needs = frozenset(need for by in evaluators for need in by.facts.needs)
        self._locks = {by: threading.Lock() for by in evaluators}
        self._own = threading.local()
        self._shelf = Shelf()

    def run(self, items: Sequence[Item], is_owed: IsOwed = lambda item, by, inputs: True) -> Generator[Step]:
        """Results as they come, in no certain order; an image that cannot be read is `Failed`, and the rest goes on.

        Raises what `turngate.evaluators.scoring.score` raises. Closing the iterator ends the work after the batches
        that are in hand.
        """
        stop = threading.Event()
        told: queue.SimpleQueue[Step | BaseException] = queue.SimpleQueue()
        pool = ThreadPoolExecutor(self._jobs, thread_name_prefix="score")

        def work(chunk: Sequence[Item]) -> None:
            if stop.is_set():
                return
            try:
                for step in self._work(chunk, is_owed):
                    told.put(step)
                    if stop.is_set():
                        return
            except BaseException as error:  # raised again in the thread that waits
                stop.set()
                told.put(error)

        try:
            for start in range(0, len(items), self._batch):
                pool.submit(work, items[start : start + self._batch])
            finished = 0
            while finished < len(items):
                step = told.get()
                if isinstance(step, BaseException):
                    raise step
                finished += step.finished
                yield step
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    def _work(self, chunk: Sequence[Item], is_owed: IsOwed) -> Iterator[Step]:
        opened = [Opened.of(item, self._needs, self._shelf) for item in chunk]
        busy: set[int] = set()
        for by in self.evaluators:
            owed = [one for one in opened if is_owed(one.item, by, one.inputs)]
            busy.update(id(one) for one in owed)
            if owed:
                yield Step(tuple(self._score(by, owed)))
        yield Step(finished=len(chunk), idle=len(chunk) - len(busy))

    def _score(self, by: Named, batch: Sequence[Opened]) -> list[Scored]:
        samples: list[Sample] = []
        results: list[Result | None] = []
        for one in batch:
            try:
                samples.append(one.sample(by.facts))
                results.append(None)
            except TurngateError as error:
                results.append(Failed(error.fault, type(error).__name__, str(error)))
        started = time.time_ns()
        with self._mine(by) as evaluator:
            answers = iter(cached_score(self._cache, evaluator, by.config, samples))
        ended = time.time_ns()
        return [
            Scored(one.item, by, one.inputs, next(answers) if result is None else result, started, ended)
            for one, result in zip(batch, results, strict=True)
        ]

    @contextmanager
    def _mine(self, by: Named) -> Iterator[Evaluator]:
        """The evaluator, for this thread alone."""
        if by.is_light and self._jobs > 1:
            own: dict[Named, Evaluator] = self._own.__dict__.setdefault("evaluators", {})
            if by not in own:
                own[by] = by.another()
            yield own[by]
            return
        with self._locks[by]:
            yield by.evaluator
