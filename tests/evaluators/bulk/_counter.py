"""An evaluator that counts how often it is asked, and how a cache is asked."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from turngate.component import ComponentConfig
from turngate.evaluators import EvalInput, Facts, Result, Score
from turngate.evaluators.bulk import ScoreCache, cached_score
from turngate.picture import Picture

__all__ = ["Counter", "Settings", "ask", "picture"]


def picture(level: int, side: int = 32) -> Picture:
    """One level everywhere."""
    return Picture.from_rgb(np.full((side, side, 3), level, dtype=np.uint8))


class Counter:
    """Counts how often it is asked, and answers as a test says."""

    def __init__(self, *answers: Result, **facts: Any) -> None:
        values: dict[str, Any] = {"name": "counter", "version": "1", "direction": "higher", "range": (0.0, 1e9)}
        self.facts = Facts(**{**values, **facts})
        self.asked = 0
        self._answers = itertools.cycle(answers or [Score(0.5)])

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        self.asked += len(batch)
        return [next(self._answers) for _ in batch]


class Settings(ComponentConfig):
    """Settings of a test."""

    at: int = 0


def ask(cache: ScoreCache, evaluator: Counter, sample: EvalInput, config: ComponentConfig | None = None) -> Result:
    """One result, from the cache where it is there."""
    return cached_score(cache, evaluator, config or Settings(type="counter"), [sample])[0]
