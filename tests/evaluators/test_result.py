"""What becomes a score, and what never does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.evaluators import EvalInput, Failed, Score
from turngate.evaluators.result import finite
from turngate.evaluators.scoring import score

from ._broken import GRAY, Broken


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
    result = score(Broken(lambda batch: [Score(value) for _ in batch]), [EvalInput(GRAY)])[0]
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
