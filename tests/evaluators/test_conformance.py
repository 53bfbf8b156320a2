"""Every built-in evaluator keeps the contract, and the kit notices those that do not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.evaluators import EVALUATORS, Evaluator, Facts, Failed, Result, Sample, Score, Unscored
from turngate.evaluators.result import finite
from turngate.evaluators.scoring import score
from turngate.picture import Picture
from turngate.testing import check_evaluator

GRAY = Picture.from_rgb(np.full((32, 32, 3), 100, dtype=np.uint8))


def build(raw: Any) -> Evaluator:
    return EVALUATORS.build(EVALUATORS.configure(raw, "evaluators.x"))


@pytest.mark.parametrize(
    "raw",
    [
        "brisque", "niqe", "piqe", "psnr", "ssim", "drift", "drift_chain", "scripted",
        {"type": "psnr", "align": "shift"},
        {"type": "ssim", "align": "shift", "against": "previous"},
        {"type": "drift", "reference": "first"},
    ],
    ids=str,
)  # fmt: skip
def test_built_in(raw: Any) -> None:
    check_evaluator(build(raw))


class Broken:
    """An evaluator whose behaviour a test chooses."""

    def __init__(self, answer: Any, **facts: Any) -> None:
        values: dict[str, Any] = {"name": "broken", "version": "1", "direction": "higher", "range": (0.0, 1.0)}
        self.facts = Facts(**{**values, **facts})
        self.answer = answer

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        return list(self.answer(batch))


COUNT = itertools.count()


@pytest.mark.parametrize(
    ("answer", "facts", "rule"),
    [
        (lambda batch: [Score(2.0) for _ in batch], {}, "ordinary image"),
        (lambda batch: [Score(0.5)] * (len(batch) - 1), {}, "ordinary image"),
        (lambda batch: ["0.5" for _ in batch], {}, "ordinary image"),
        (lambda batch: [Unscored("parse") for _ in batch], {}, "scored none"),
        (lambda batch: [Score(next(COUNT) % 7 / 7) for _ in batch], {}, "scored again"),
        (lambda batch: [Score(1 / len(batch)) for _ in batch], {}, "batch of eight"),
        (lambda batch: [Score(float(1 / np.ptp(s.candidate.rgb))) for s in batch], {}, "broke on"),
        (lambda batch: [Score(0.5) for _ in batch], {"range": (1.0, 0.0)}, "low to high"),
    ],
)  # fmt: skip
def test_the_kit_notices(answer: Any, facts: dict[str, Any], rule: str) -> None:
    with pytest.raises(AssertionError, match=rule):
        check_evaluator(Broken(answer, **facts))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3.0),
        (np.array(2.5), 2.5),
        (np.array([7]), 7.0),
        (2**70, float(2**70)),
        (3, 3.0),
    ],
)
def test_numbers_become_finite_floats(value: Any, expected: float) -> None:
    """C32: numpy scalars and large integers."""
    converted = finite(value)
    assert type(converted) is float
    assert converted == expected


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), np.float64("nan"), True, np.True_, "0.5", None, 10**400, [1.0]]
)
def test_what_is_no_number_is_no_score(value: Any) -> None:
    """C32: NaN, infinity, truth values, text and integers beyond a float never become a score."""
    with pytest.raises(ValueError, match="a score must"):
        Score(value)
    result = score(Broken(lambda batch: [Score(value) for _ in batch]), [Sample(GRAY)])[0]
    assert isinstance(result, Failed)


def test_torch_scalars() -> None:
    torch = pytest.importorskip("torch")
    assert finite(torch.tensor(0.25)) == 0.25
    with pytest.raises(ValueError, match="truth value"):
        finite(torch.tensor(True))


@given(st.floats() | st.integers() | st.booleans() | st.none() | st.text())
def test_finite_never_lets_anything_else_through(value: Any) -> None:
    try:
        number = finite(value)
    except ValueError:
        return
    assert type(number) is float and abs(number) < float("inf")


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (KeyError("x"), "us"),
        (MemoryError(), "machine"),
        (ConnectionError("reset"), "machine"),
        (RuntimeError("CUDA out"), "us"),
    ],
)
def test_exceptions_are_failures(error: Exception, fault: str) -> None:
    def answer(batch: Any) -> Any:
        raise error

    result = score(Broken(answer), [Sample(GRAY), Sample(GRAY)])
    assert [type(r) for r in result] == [Failed, Failed]
    assert isinstance(result[0], Failed) and (result[0].fault, result[0].error) == (fault, type(error).__name__)


def test_samples_that_cannot_be_scored_do_not_reach_the_evaluator() -> None:
    seen: list[int] = []

    def answer(batch: Sequence[Sample]) -> list[Result]:
        seen.append(len(batch))
        return [Score(0.5) for _ in batch]

    evaluator = Broken(answer, needs=frozenset({"candidate", "origin"}), min_size=16)
    tiny = Picture.from_rgb(np.zeros((8, 40, 3), dtype=np.uint8))
    results = score(evaluator, [Sample(GRAY, origin=GRAY), Sample(GRAY), Sample(tiny, origin=GRAY)])
    assert seen == [1]
    assert results[0] == Score(0.5)
    assert isinstance(results[1], Unscored) and results[1].why == "no_reference"
    assert isinstance(results[2], Unscored) and results[2].why == "too_small"


def test_a_negative_value_is_fine_where_the_range_is_approximate() -> None:
    """C33."""
    answer = Broken(lambda batch: [Score(-9.8) for _ in batch], range=(0.0, 150.0), range_is_approximate=True)
    assert score(answer, [Sample(GRAY)]) == [Score(-9.8)]
    exact = Broken(lambda batch: [Score(-9.8) for _ in batch], range=(0.0, 150.0))
    failed = score(exact, [Sample(GRAY)])[0]
    assert isinstance(failed, Failed) and failed.error == "range"
