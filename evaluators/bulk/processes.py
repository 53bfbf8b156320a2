"""Bulk scoring in several processes: for light evaluators and many images."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from pathlib import Path

from turngate.component import ComponentConfig
from turngate.evaluators import EVALUATORS
from turngate.evaluators.bulk.cache import Inputs, ScoreCache
from turngate.evaluators.bulk.job import (
    ImageSource,
    IsOwed,
    LoadedJob,
    NamedEvaluator,
    Scored,
    ScoreJob,
    ScoringStep,
    Shelf,
    eval_inputs,
    score_batch,
)
from turngate.evaluators.result import Failed, Result

__all__ = ["Processes", "Task", "WorkerAnswer", "begin", "work"]


# A process that scores batches for another one.


@dataclass(frozen=True)
class Task:
    """One image, and the evaluators (by number) that owe it a result."""

    item: ScoreJob
    inputs: Inputs
    owed: tuple[int, ...]


@dataclass(frozen=True)
class WorkerAnswer:
    """One result: number of the task in its batch, number of the evaluator."""

    task: int
    by: int
    result: Result
    started_ns: int
    ended_ns: int


class _Here:
    """What this process scores with."""

    evaluators: Sequence[NamedEvaluator] = ()
    cache: ScoreCache | None = None
    shelf = Shelf()


def begin(configs: Sequence[ComponentConfig], cache: Path | None) -> None:
    """Build evaluators of one's own; the process ends with its parent and leaves Ctrl-C to it."""
    import cv2

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    cv2.setNumThreads(1)  # the processes are as many as there are processors
    _Here.evaluators = [NamedEvaluator(config.type, config, EVALUATORS.build(config)) for config in configs]
    _Here.cache = ScoreCache(cache) if cache is not None else None


def work(tasks: Sequence[Task]) -> list[WorkerAnswer]:
    """Score a batch, evaluator by evaluator; each image is decoded once."""
    opened = [LoadedJob(task.item, task.inputs, _Here.shelf) for task in tasks]
    answers = []
    for number, by in enumerate(_Here.evaluators):
        owed = [index for index, task in enumerate(tasks) if number in task.owed]
        batch = [opened[index] for index in owed]
        scored = score_batch(by, by.evaluator, _Here.cache, batch, eval_inputs(by.facts, batch))
        answers += [
            WorkerAnswer(index, number, one.result, one.started_ns, one.ended_ns)
            for index, one in zip(owed, scored, strict=True)
        ]
    return answers


_AHEAD = 2
"""Batches in hand per process, so that none is idle."""


class Processes:
    """This process hashes and finds out what is owed; others decode and score, with evaluators of their own."""

    def __init__(self, evaluators: Sequence[NamedEvaluator], cache: Path | None, jobs: int) -> None:
        """`cache` is the folder of the score cache."""
        self._evaluators, self._cache, self._jobs = evaluators, cache, jobs
        self._needs = frozenset(need for by in evaluators for need in by.facts.inputs)
        self._shelf = Shelf()
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: dict[Future[list[WorkerAnswer]], Sequence[Task]] = {}
        self._died: list[Sequence[Task]] = []

    def run(self, items: Sequence[ScoreJob], batch: int, is_owed: IsOwed) -> Generator[ScoringStep]:
        """Steps as they come, in no certain order. Images in hand when a process dies are asked for once more."""
        try:
            for start in range(0, len(items), batch):
                tasks = []
                for item in items[start : start + batch]:
                    opened = LoadedJob.of(item, self._needs, self._shelf)
                    task = self._task(opened, is_owed)
                    if opened.problem is None and task.owed:
                        tasks.append(task)
                    else:
                        yield self._at_once(opened, task)
                if tasks:
                    self._submit(tasks)
                while len(self._waiting) > _AHEAD * self._jobs:
                    yield from self._collect()
            while self._waiting:
                yield from self._collect()
            yield from self._one_by_one()
        finally:
            self._waiting.clear()
            self._close()

    def _task(self, opened: LoadedJob, is_owed: IsOwed) -> Task:
        item, inputs = opened.item, opened.inputs
        owed = tuple(number for number, by in enumerate(self._evaluators) if is_owed(item, by, inputs))
        # The process that decodes it must see the bytes that were hashed here.
        return Task(replace(item, candidate=ImageSource(item.candidate.path, inputs.candidate)), inputs, owed)

    def _at_once(self, opened: LoadedJob, task: Task) -> ScoringStep:
        """Nothing is owed, or nothing can be shown."""
        scored: list[Scored] = []
        for by in (self._evaluators[number] for number in task.owed):
            scored += score_batch(by, by.evaluator, None, [opened], eval_inputs(by.facts, [opened]))
        return ScoringStep(tuple(scored), finished=1, idle=int(not task.owed))

    def _submit(self, tasks: Sequence[Task]) -> None:
        for _ in range(2):
            self._pool = self._pool or self._new_pool(self._jobs)
            try:
                self._waiting[self._pool.submit(work, tasks)] = tasks
                return
            except BrokenProcessPool:  # what was in it is found by `_collect`
                self._close()
        self._died.append(tasks)

    def _collect(self) -> Iterator[ScoringStep]:
        done, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
        for future in done:
            tasks = self._waiting.pop(future)
            try:
                yield self._step(tasks, future.result())
            except BrokenProcessPool:
                self._died.append(tasks)

    def _one_by_one(self) -> Iterator[ScoringStep]:
        """What was in hand when a process died, image by image: finds out which of them killed it."""
        self._close()
        for task in (task for tasks in self._died for task in tasks):
            self._pool = self._pool or self._new_pool(1)
            try:
                yield self._step([task], self._pool.submit(work, [task]).result())
            except BrokenProcessPool:
                self._close()
                died = Failed("machine", "process_died", "the process that scored it was killed, out of memory perhaps")
                now = time.time_ns()
                yield self._step([task], [WorkerAnswer(0, by, died, now, now) for by in task.owed])

    def _step(self, tasks: Sequence[Task], answers: Sequence[WorkerAnswer]) -> ScoringStep:
        scored = [
            Scored(
                tasks[one.task].item, self._evaluators[one.by], tasks[one.task].inputs, one.result, one.started_ns,
                one.ended_ns,
            )
            for one in answers
        ]  # fmt: skip
        return ScoringStep(tuple(scored), finished=len(tasks))

    def _new_pool(self, processes: int) -> ProcessPoolExecutor:
        configs = [by.config for by in self._evaluators]
        return ProcessPoolExecutor(
            processes, mp_context=get_context("spawn"), initializer=begin, initargs=(configs, self._cache)
        )

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
