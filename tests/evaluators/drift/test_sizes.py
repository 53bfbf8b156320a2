"""`drift` between images of different sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.evaluators import EvalInput, Score, Unscored
from turngate.evaluators.drift import Drift, DriftConfig
from turngate.evaluators.scoring import score
from turngate.picture import Picture

from ._images import PHOTOGRAPHS, Rgb, drift_of, noisy, resized, scored


@pytest.mark.slow
def test_another_size_is_brought_to_one_scale_and_said(photograph: Rgb) -> None:
    height, width = (side // 2 for side in photograph.shape[:2])
    photograph = photograph[: 2 * height, : 2 * width]
    small = resized(photograph, width, height)
    for reference, candidate, which in ((photograph, small, "reference"), (small, photograph, "candidate")):
        result = scored(reference, candidate)
        assert result.value < 0.5
        assert result.flags == (f"{which}_resized:0.500",)
    assert scored(photograph, noisy(small, 12)).value > 1
    slightly = scored(photograph, resized(photograph, round(2 * width * 0.95), round(2 * height * 0.95)))
    assert slightly.value < 0.5
    assert slightly.flags[0].startswith("reference_resized:0.9")
    assert scored(photograph, photograph[2:, 3:]).flags == ()


@settings(deadline=None, max_examples=10)
@given(st.integers(64, 260), st.integers(64, 260), st.integers(64, 260), st.integers(64, 260))
def test_any_two_sizes_from_64_pixels_are_answered(
    rows: int, columns: int, other_rows: int, other_columns: int
) -> None:
    rgb = PHOTOGRAPHS["astronaut"]()
    reference, candidate = rgb[:rows, :columns], rgb[:other_rows, :other_columns]
    assert scored(reference, reference).value == 0
    result = drift_of(reference, candidate)
    assert isinstance(result, Score | Unscored)
    assert isinstance(result, Score) or result.why == "too_small"


def test_images_that_are_too_small_or_missing_are_unscored() -> None:
    rgb = PHOTOGRAPHS["astronaut"]()
    for reference, candidate in ((rgb, rgb[:63]), (rgb[:63], rgb), (rgb[:, :70], np.tile(rgb[:64], (1, 9, 1)))):
        result = drift_of(reference, candidate)
        assert isinstance(result, Unscored)
        assert result.why == "too_small"
    alone, evaluator = EvalInput(Picture.from_rgb(rgb)), Drift(DriftConfig(type="drift"))
    for result in (*score(evaluator, [alone]), *evaluator.evaluate([alone])):
        assert isinstance(result, Unscored)
        assert result.why == "no_reference"
