"""Bulk scoring in the threads of one process: for evaluators that are heavy, or when there is little to do."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from turngate.evaluators.bulk.cache import ScoreCache
from turngate.evaluators.bulk.job import (
    IsOwed,
    LoadedJob,
    NamedEvaluator,
    ScoreJob,
    ScoringStep,
    Shelf,
    eval_inputs,
    score_batch,
)
from turngate.evaluators.evaluator import Evaluator

__all__ = ["Threads"]


class Threads:
    """No evaluator is asked twice at a time: each thread has light ones of its own, the others are shared in turns."""

    def __init__(self, evaluators: Sequence[NamedEvaluator], cache: ScoreCache | None, jobs: int) -> None:
        self._evaluators, self._cache, self._jobs = evaluators, cache, jobs
        self._needs = frozenset(need for by in evaluators for need in by.facts.inputs)
        self._locks = {by: threading.Lock() for by in evaluators}
        self._own = threading.local()
        self._shelf = Shelf()

    def run(self, items: Sequence[ScoreJob], batch: int, is_owed: IsOwed) -> Generator[ScoringStep]:
        """Steps as they come, in no certain order; raises what an evaluator raises."""
        stop = threading.Event()
        told: queue.SimpleQueue[ScoringStep | BaseException] = queue.SimpleQueue()
        pool = ThreadPoolExecutor(self._jobs, thread_name_prefix="score")

        def work(chunk: Sequence[ScoreJob]) -> None:
            if stop.is_set():
                return
            try:
                for step in self._work(chunk, is_owed, stop):
                    told.put(step)
                    if stop.is_set():
                        return
            except BaseException as error:  # raised again in the thread that waits
                stop.set()
                told.put(error)

        try:
            for start in range(0, len(items), batch):
                pool.submit(work, items[start : start + batch])
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

    def _work(self, chunk: Sequence[ScoreJob], is_owed: IsOwed, stop: threading.Event) -> Iterator[ScoringStep]:
        opened = [LoadedJob.of(item, self._needs, self._shelf) for item in chunk]
        busy: set[int] = set()
        for by in self._evaluators:
            owed = [one for one in opened if is_owed(one.item, by, one.inputs)]
            busy.update(id(one) for one in owed)
            if owed:
                shown = eval_inputs(by.facts, owed)
                with self._mine(by) as evaluator:
                    if stop.is_set():  # while this waited its turn
                        return
                    scored = score_batch(by, evaluator, self._cache, owed, shown)
                yield ScoringStep(tuple(scored))
        yield ScoringStep(finished=len(chunk), idle=len(chunk) - len(busy))

    @contextmanager
    def _mine(self, by: NamedEvaluator) -> Iterator[Evaluator]:
        """The evaluator, for this thread alone."""
        if by.is_light and self._jobs > 1:
            own: dict[NamedEvaluator, Evaluator] = self._own.__dict__.setdefault("evaluators", {})
            if by not in own:
                own[by] = by.another()
            yield own[by]
            return
        with self._locks[by]:
            yield by.evaluator
