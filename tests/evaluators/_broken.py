"""An evaluator whose behaviour a test chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from turngate.evaluators import EvalInput, Facts, Result
from turngate.picture import Picture

__all__ = ["GRAY", "Broken"]

GRAY = Picture.from_rgb(np.full((32, 32, 3), 100, dtype=np.uint8))


class Broken:
    """Answers as it is told; range 0 to 1, higher is better."""

    def __init__(self, answer: Callable[[Any], Iterable[Any]], **facts: Any) -> None:
        values: dict[str, Any] = {"name": "broken", "version": "1", "direction": "higher", "range": (0.0, 1.0)}
        self.facts = Facts(**{**values, **facts})
        self.answer = answer

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        return list(self.answer(batch))
