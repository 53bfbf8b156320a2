"""`score`: one sample that breaks an evaluator costs only its own score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from turngate.evaluators import Facts, Failed, Result, Sample, Score
from turngate.evaluators.scoring import score
from turngate.picture import Picture

SAMPLES = [Sample(Picture.from_rgb(np.full((8, 8, 3), level, dtype=np.uint8))) for level in (10, 0, 30, 0, 50)]


class Inverse:
    """Gives 1 / mean level, and raises on black; `whole` batches are written down."""

    def __init__(self, paid: bool = False) -> None:
        self.facts = Facts("inverse", "1", "lower", (0.0, 1.0), paid=paid)
        self.asked: list[int] = []

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        self.asked.append(len(batch))
        if any(not sample.candidate.rgb.any() for sample in batch):
            raise ZeroDivisionError("black")
        return [Score(float(1 / sample.candidate.rgb.mean())) for sample in batch]


def test_only_the_guilty_samples_of_a_batch_fail() -> None:
    evaluator = Inverse()
    results = score(evaluator, SAMPLES)
    assert [type(result) for result in results] == [Score, Failed, Score, Failed, Score]
    assert [result.value for result in results if isinstance(result, Score)] == pytest.approx([1 / 10, 1 / 30, 1 / 50])
    assert results[1] == Failed("us", "ZeroDivisionError", "black")
    assert evaluator.asked == [5, 1, 1, 1, 1, 1]


def test_a_sound_batch_is_scored_at_once() -> None:
    evaluator = Inverse()
    score(evaluator, SAMPLES[::2])
    assert evaluator.asked == [3]


def test_a_single_sample_is_not_tried_twice() -> None:
    evaluator = Inverse()
    assert isinstance(score(evaluator, SAMPLES[1:2])[0], Failed)
    assert evaluator.asked == [1]


def test_what_is_paid_for_is_not_asked_again() -> None:
    evaluator = Inverse(paid=True)
    assert {type(result) for result in score(evaluator, SAMPLES)} == {Failed}
    assert evaluator.asked == [5]
