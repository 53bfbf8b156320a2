"""Scores many images with many evaluators: each image is decoded once, each evaluator gets batches."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from turngate.evaluators.bulk.cache import ScoreCache, cacheable
from turngate.evaluators.bulk.job import IsOwed, NamedEvaluator, ScoreJob, ScoringStep
from turngate.evaluators.bulk.processes import Processes
from turngate.evaluators.bulk.threads import Threads

__all__ = ["Batcher"]

_MANY = 64
"""Images from which processes are worth their start (0.7 s): measured with two of them at 512 pixels."""


class Batcher:
    """Works through images with several at a time."""

    def __init__(
        self,
        evaluators: Sequence[NamedEvaluator],
        cache: ScoreCache | None = None,
        jobs: int = 2,
        batch: int = 4,
        processes: bool = False,
    ) -> None:
        """`jobs` images at a time; `batch` are given to an evaluator at once (1 where one of them is paid for).

        With `processes` many images that only light evaluators look at are scored in processes, anything else in
        threads. The program must then be importable without running (`if __name__ == "__main__":`).
        """
        self.evaluators = tuple(evaluators)
        self._cache = cache
        # Whoever depends on the order of calls gets it.
        self._jobs = jobs if all(cacheable(by.facts) or by.facts.paid for by in evaluators) else 1
        self._batch = 1 if any(by.facts.paid for by in evaluators) else batch
        self._processes = processes and self._jobs > 1 and all(by.is_light for by in evaluators)

    def run(self, items: Sequence[ScoreJob], is_owed: IsOwed = lambda item, by, inputs: True) -> Generator[ScoringStep]:
        """Results as they come, in no certain order; an image that cannot be read is `Failed`, and the rest goes on.

        Raises what `turngate.evaluators.scoring.score` raises. Closing the iterator ends the work after the batches
        that are in hand.
        """
        if self._processes and len(items) >= _MANY:
            folder = None if self._cache is None else self._cache.path.parent
            return Processes(self.evaluators, folder, self._jobs).run(items, self._batch, is_owed)
        return Threads(self.evaluators, self._cache, self._jobs).run(items, self._batch, is_owed)
