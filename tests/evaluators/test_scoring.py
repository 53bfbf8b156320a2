"""`score`: whatever an evaluator does, a typed result comes out, and only the guilty sample pays for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from turngate.evaluators import EvalInput, Facts, Failed, Result, Score, Unscored
from turngate.evaluators.scoring import score
from turngate.picture import Picture

from ._broken import GRAY, Broken

SAMPLES = [EvalInput(Picture.from_rgb(np.full((8, 8, 3), level, dtype=np.uint8))) for level in (10, 0, 30, 0, 50)]


class Inverse:
    """Gives 1 / mean level, and raises on black; `whole` batches are written down."""

    def __init__(self, paid: bool = False) -> None:
        self.facts = Facts("inverse", "1", "lower", (0.0, 1.0), paid=paid)
        self.asked: list[int] = []

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
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


def test_an_evaluator_may_use_up_the_batch() -> None:
    def answer(batch: list[EvalInput]) -> list[Result]:
        return [Score(batch.pop(0).candidate.gray[0, 0] / 100) for _ in range(len(batch))]

    results = score(Broken(answer), SAMPLES)
    assert [result.value for result in results if isinstance(result, Score)] == pytest.approx([0.1, 0, 0.3, 0, 0.5])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_results_is_a_failure(count: int) -> None:
    results = score(Broken(lambda batch: [Score(0.5)] * count), SAMPLES[:2])
    assert {type(result) for result in results} == {Failed} and len(results) == 2
    assert isinstance(results[0], Failed) and results[0].error == "result_count"


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (KeyError("x"), "us"),
        (MemoryError(), "machine"),
        (ConnectionError("reset"), "machine"),
        (RuntimeError("sizes of tensors must match"), "us"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), "machine"),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory"), "machine"),
    ],
)
def test_exceptions_are_failures(error: Exception, fault: str) -> None:
    def answer(batch: Any) -> Any:
        raise error

    result = score(Broken(answer), [EvalInput(GRAY), EvalInput(GRAY)])
    assert [type(r) for r in result] == [Failed, Failed]
    assert isinstance(result[0], Failed) and (result[0].fault, result[0].error) == (fault, type(error).__name__)


def test_samples_that_cannot_be_scored_do_not_reach_the_evaluator() -> None:
    seen: list[int] = []

    def answer(batch: Sequence[EvalInput]) -> list[Result]:
        seen.append(len(batch))
        return [Score(0.5) for _ in batch]

    evaluator = Broken(answer, inputs=frozenset({"candidate", "origin"}), min_size=16)
    tiny = Picture.from_rgb(np.zeros((8, 40, 3), dtype=np.uint8))
    results = score(evaluator, [EvalInput(GRAY, origin=GRAY), EvalInput(GRAY), EvalInput(tiny, origin=GRAY)])
    assert seen == [1]
    assert results[0] == Score(0.5)
    assert isinstance(results[1], Unscored) and results[1].why == "no_reference"
    assert isinstance(results[2], Unscored) and results[2].why == "too_small"


def test_a_negative_value_is_fine_where_the_range_is_approximate() -> None:
    """C33."""
    answer = Broken(lambda batch: [Score(-9.8) for _ in batch], range=(0.0, 150.0), range_is_approximate=True)
    assert score(answer, [EvalInput(GRAY)]) == [Score(-9.8)]
    exact = Broken(lambda batch: [Score(-9.8) for _ in batch], range=(0.0, 150.0))
    failed = score(exact, [EvalInput(GRAY)])[0]
    assert isinstance(failed, Failed) and failed.error == "range"
