"""Scores many images with many evaluators in threads: each image is decoded once, each evaluator gets batches."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from turngate.evaluators.bulk.cache import ScoreCache, cacheable
from turngate.evaluators.bulk.job import (
    IsOwed,
    LoadedJob,
    NamedEvaluator,
    ReferenceCache,
    ScoreJob,
    ScoringStep,
    eval_inputs,
    score_batch,
)
from turngate.evaluators.evaluator import Evaluator

__all__ = ["Batcher"]


class Batcher:
    """Works through images with several at a time.

    No evaluator is asked twice at a time: each thread has light ones of its own, the others are shared in turns.
    """

    def __init__(
        self, evaluators: Sequence[NamedEvaluator], cache: ScoreCache | None = None, threads: int = 2, batch: int = 4
    ) -> None:
        """`batch` images are given to an evaluator at once, 1 where one of them is paid for.

        One thread works where an evaluator depends on the order of calls.
        """
        self.evaluators = tuple(evaluators)
        self._cache = cache
        self._threads = threads if all(cacheable(one.facts) or one.facts.paid for one in evaluators) else 1
        self._batch = 1 if any(one.facts.paid for one in evaluators) else batch
        self._roles = frozenset(role for one in evaluators for role in one.facts.inputs)
        self._locks = {one: threading.Lock() for one in evaluators}
        self._own = threading.local()
        self._references = ReferenceCache()

    def run(
        self, jobs: Sequence[ScoreJob], is_owed: IsOwed = lambda job, named, inputs: True
    ) -> Generator[ScoringStep]:
        """Results as they come, in no certain order; an image that cannot be read is `Failed`, and the rest goes on.

        Raises what `turngate.evaluators.scoring.score` raises. Closing the iterator ends the work after the batches
        that have begun.
        """
        stop = threading.Event()
        steps: queue.SimpleQueue[ScoringStep | BaseException] = queue.SimpleQueue()
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="score")

        def work(batch: Sequence[ScoreJob]) -> None:
            if stop.is_set():
                return
            try:
                for step in self._score(batch, is_owed, stop):
                    steps.put(step)
                    if stop.is_set():
                        return
            except BaseException as error:  # raised again in the thread that waits
                stop.set()
                steps.put(error)

        try:
            for start in range(0, len(jobs), self._batch):
                pool.submit(work, jobs[start : start + self._batch])
            finished = 0
            while finished < len(jobs):
                step = steps.get()
                if isinstance(step, BaseException):
                    raise step
                finished += step.finished
                yield step
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    def _score(self, batch: Sequence[ScoreJob], is_owed: IsOwed, stop: threading.Event) -> Iterator[ScoringStep]:
        loaded = [LoadedJob.of(job, self._roles, self._references) for job in batch]
        busy: set[int] = set()
        for named in self.evaluators:
            owed = [one for one in loaded if is_owed(one.job, named, one.inputs)]
            busy.update(id(one) for one in owed)
            if owed:
                inputs = eval_inputs(named.facts, owed)
                with self._mine(named) as evaluator:
                    if stop.is_set():  # while this waited its turn
                        return
                    scored = score_batch(named, evaluator, self._cache, owed, inputs)
                yield ScoringStep(tuple(scored))
        yield ScoringStep(finished=len(batch), idle=len(batch) - len(busy))

    @contextmanager
    def _mine(self, named: NamedEvaluator) -> Iterator[Evaluator]:
        """The evaluator, for this thread alone."""
        if named.is_light and self._threads > 1:
            own: dict[NamedEvaluator, Evaluator] = self._own.__dict__.setdefault("evaluators", {})
            if named not in own:
                own[named] = named.another()
            yield own[named]
            return
        with self._locks[named]:
            yield named.evaluator
