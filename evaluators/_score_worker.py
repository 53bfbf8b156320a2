"""A process that scores batches for another one."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path

from turngate.evaluators import EVALUATORS
from turngate.evaluators._opened import Opened
from turngate.evaluators._score_batch import samples_of, score_batch
from turngate.evaluators.bulk.cache import ScoreCache
from turngate.evaluators.bulk.item import Item, Named
from turngate.evaluators.image_source import Shelf
from turngate.evaluators.result import Result
from turngate.evaluators.score_key import Inputs
from turngate.part import PartConfig

__all__ = ["Answer", "Task", "begin", "work"]


@dataclass(frozen=True)
class Task:
    """One image, and the evaluators (by number) that owe it a result."""

    item: Item
    inputs: Inputs
    owed: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """One result: number of the task in its batch, number of the evaluator."""

    task: int
    by: int
    result: Result
    started_ns: int
    ended_ns: int


class _Here:
    """What this process scores with."""

    evaluators: Sequence[Named] = ()
    cache: ScoreCache | None = None
    shelf = Shelf()


def begin(configs: Sequence[PartConfig], cache: Path | None) -> None:
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
    _Here.evaluators = [Named(config.type, config, EVALUATORS.build(config)) for config in configs]
    _Here.cache = ScoreCache(cache) if cache is not None else None


def work(tasks: Sequence[Task]) -> list[Answer]:
    """Score a batch, evaluator by evaluator; each image is decoded once."""
    opened = [Opened(task.item, task.inputs, _Here.shelf) for task in tasks]
    answers = []
    for number, by in enumerate(_Here.evaluators):
        owed = [index for index, task in enumerate(tasks) if number in task.owed]
        batch = [opened[index] for index in owed]
        scored = score_batch(by, by.evaluator, _Here.cache, batch, samples_of(by.facts, batch))
        answers += [
            Answer(index, number, one.result, one.started_ns, one.ended_ns)
            for index, one in zip(owed, scored, strict=True)
        ]
    return answers
