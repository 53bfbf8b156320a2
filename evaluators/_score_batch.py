"""One evaluator's look at one batch: what cannot be shown to it is a result too."""

from __future__ import annotations

import time
from collections.abc import Sequence

from turngate.errors import TurngateError
from turngate.evaluators._opened import Opened
from turngate.evaluators.bulk.cache import ScoreCache, cached_score
from turngate.evaluators.bulk.item import Named, Scored
from turngate.evaluators.evaluator import Evaluator, Facts, Sample
from turngate.evaluators.result import Failed, Result

__all__ = ["samples_of", "score_batch"]


def samples_of(facts: Facts, batch: Sequence[Opened]) -> list[Sample | Failed]:
    """Decode what an evaluator is shown; an image that cannot be read is `Failed`."""
    shown: list[Sample | Failed] = []
    for one in batch:
        try:
            shown.append(one.sample(facts))
        except TurngateError as error:
            shown.append(Failed(error.fault, type(error).__name__, str(error)))
    return shown


def score_batch(
    by: Named, evaluator: Evaluator, cache: ScoreCache | None, batch: Sequence[Opened], shown: Sequence[Sample | Failed]
) -> list[Scored]:
    """Results of `evaluator` (the one of `by`, or another like it) on what `samples_of` gave for the batch."""
    started = time.time_ns()
    answers = iter(cached_score(cache, evaluator, by.config, [one for one in shown if isinstance(one, Sample)]))
    ended = time.time_ns()
    results: list[Result] = [next(answers) if isinstance(one, Sample) else one for one in shown]
    return [
        Scored(one.item, by, one.inputs, result, started, ended) for one, result in zip(batch, results, strict=True)
    ]
