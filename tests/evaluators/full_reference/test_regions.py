"""`control_regions` and `outside_edit`: known answers, and rectangles that are none."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skimage
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, EvalInput, Result, Score, Unscored
from turngate.evaluators.scoring import score
from turngate.picture import Picture

SIDE = 192
RGB = np.clip(np.asarray(Image.open(Path(skimage.__file__).parent / "data" / "astronaut.png"))[:SIDE, :SIDE], 0, 240)
ORIGIN = Picture.from_rgb(RGB)
QUARTER = (0.25, 0.25, 0.5, 0.5)
ALIGNS = ["none", "shift", "crop", "full"]


def ask(raw: dict[str, Any], candidate: Picture, boxes: Any = None) -> Result:
    evaluator = EVALUATORS.build(EVALUATORS.configure(raw, "x"))
    return score(evaluator, [EvalInput(candidate, origin=ORIGIN, edit_boxes=boxes)])[0]


def value(result: Result) -> float:
    assert isinstance(result, Score), result
    return result.value


def brighter(left: float, top: float, right: float, bottom: float, levels: int = 7) -> Picture:
    """The origin with one rectangle (shares) some levels brighter."""
    rgb = RGB.copy()
    rows, columns = (slice(round(a * SIDE), round(b * SIDE)) for a, b in ((top, bottom), (left, right)))
    rgb[rows, columns] += np.uint8(levels)
    return Picture.from_rgb(rgb)


def control(*regions: Any, **more: Any) -> dict[str, Any]:
    return {"type": "control_regions", "regions": [list(region) for region in regions], **more}


@pytest.mark.parametrize("align", ALIGNS)
def test_a_constant_change_inside_is_its_own_size(align: str) -> None:
    candidate = brighter(*QUARTER)
    assert value(ask(control(QUARTER, align=align), candidate)) == 7.0
    assert value(ask(control((0.6, 0.6, 0.9, 0.9), align=align), candidate)) == 0.0


def test_the_value_is_the_mean_over_the_rectangles_whatever_their_size() -> None:
    """As the published figures of Edit Drift: the plain mean of its three rectangles."""
    result = ask(control(QUARTER, (0.6, 0.6, 0.7, 0.65)), brighter(*QUARTER))
    assert isinstance(result, Score)
    assert (result.value, dict(result.components)) == (3.5, {"region_1": 7.0, "region_2": 0.0})


@pytest.mark.parametrize(("align", "error"), [("shift", 1.0), ("crop", 0.0), ("full", 0.0)])
def test_a_shift_is_undone_and_the_rectangle_is_found_again(align: str, error: float) -> None:
    """Exactly, where whole pixels are recognised as such; `shift` goes by tenths of a pixel."""
    moved = Picture.from_rgb(np.roll(brighter(*QUARTER).rgb, (4, -3), axis=(0, 1)))
    result = ask(control(QUARTER, (0.6, 0.6, 0.9, 0.9), align=align), moved)
    assert isinstance(result, Score)
    assert result.components["region_1"] == pytest.approx(7.0, abs=error)
    assert result.components["region_2"] <= error
    assert result.components["unaligned"] > 10
    assert any(flag.startswith("shifted:") for flag in result.flags)
    assert value(ask({"type": "outside_edit", "align": align}, moved, (QUARTER,))) <= error


def test_outside_edit_leaves_the_boxes_out_all_of_them() -> None:
    candidate = brighter(*QUARTER)
    assert value(ask({"type": "outside_edit"}, candidate, (QUARTER,))) == 0.0
    assert value(ask({"type": "outside_edit"}, candidate, ((0.6, 0.6, 0.7, 0.7), QUARTER))) == 0.0
    whole = value(ask({"type": "outside_edit"}, candidate, ()))
    assert whole == pytest.approx(7 / 16, abs=1e-6)
    missed = ask({"type": "outside_edit"}, candidate, ((0.25, 0.25, 0.5, 0.375),))
    assert isinstance(missed, Score)
    assert missed.value == pytest.approx(7 / 32 / (1 - 1 / 32), abs=1e-6)
    assert missed.components["looked_at"] == pytest.approx(1 - 1 / 32)


def test_a_margin_leaves_more_out() -> None:
    candidate = brighter(0.24, 0.24, 0.51, 0.51)
    assert value(ask({"type": "outside_edit"}, candidate, (QUARTER,))) > 0
    assert value(ask({"type": "outside_edit", "margin": 0.02}, candidate, (QUARTER,))) == 0.0


def test_boxes_that_leave_nothing_or_are_not_known_give_no_score() -> None:
    nothing = ask({"type": "outside_edit"}, ORIGIN, ((0.0, 0.0, 1.0, 1.0),))
    unknown = ask({"type": "outside_edit"}, ORIGIN)
    assert isinstance(nothing, Unscored) and nothing.why == "undefined"
    assert isinstance(unknown, Unscored) and unknown.why == "no_reference"


@pytest.mark.parametrize(
    "raw",
    ["psnr", "ssim", "ms_ssim", "ciede2000", "geometry", "drift", control(QUARTER), "outside_edit"],
    ids=lambda raw: raw if isinstance(raw, str) else raw["type"],
)
def test_the_same_pixels_say_so_and_others_do_not(raw: Any) -> None:
    raw = {"type": raw} if isinstance(raw, str) else raw
    buffer = io.BytesIO()
    Image.fromarray(RGB).save(buffer, "TIFF")
    file = Picture.from_bytes(buffer.getvalue())  # another file, the same pixels
    assert file.sha256 != ORIGIN.sha256
    same = ask(raw, file, ())
    one = RGB.copy()
    one[0, 0, 0] += 1
    other = ask(raw, Picture.from_rgb(one), ())
    assert isinstance(same, Score) and "identical" in same.flags
    assert isinstance(other, Score) and "identical" not in other.flags


def test_an_exact_shift_is_at_the_ceiling_but_not_untouched() -> None:
    moved = Picture.from_rgb(np.roll(RGB, 3, axis=1))
    result = ask({"type": "psnr", "align": "shift"}, moved)
    assert isinstance(result, Score)
    assert result.value == 80.0 and "identical" not in result.flags


def test_an_ensemble_is_untouched_when_all_its_members_are() -> None:
    raw = {"type": "ensemble", "rule": "mean", "scale": "range", "members": {"a": "psnr", "b": "ssim"}}
    result = ask(raw, ORIGIN)
    assert isinstance(result, Score) and "identical" in result.flags
    raw["members"] = {"a": "psnr", "b": "piqe"}
    mixed = ask(raw, ORIGIN)
    assert isinstance(mixed, Score) and "identical" not in mixed.flags


shares = st.floats(-0.5, 1.5) | st.just(float("nan"))


@given(st.lists(st.tuples(shares, shares, shares, shares), max_size=3))
def test_only_rectangles_within_the_picture_are_regions(regions: list[tuple[float, float, float, float]]) -> None:
    fine = bool(regions) and all(0 <= a < c <= 1 and 0 <= b < d <= 1 for a, b, c, d in regions)
    try:
        EVALUATORS.configure(control(*regions), "evaluators.x")
    except ConfigError as error:
        assert not fine
        assert str(error).startswith("evaluators.x.regions") and "\n" not in str(error)
    else:
        assert fine


sides = st.tuples(st.integers(0, SIDE - 1), st.integers(1, SIDE)).filter(lambda side: side[0] < side[1])


@given(sides, sides)
def test_every_rectangle_of_whole_pixels_is_met_exactly(columns: tuple[int, int], rows: tuple[int, int]) -> None:
    """Inside all is changed, outside nothing is: for any rectangle, by both measures."""
    rgb = RGB.copy()
    rgb[rows[0] : rows[1], columns[0] : columns[1]] += 5
    box = (columns[0] / SIDE, rows[0] / SIDE, columns[1] / SIDE, rows[1] / SIDE)
    assert value(ask(control(box), Picture.from_rgb(rgb))) == 5.0
    outside = ask({"type": "outside_edit"}, Picture.from_rgb(rgb), (box,))
    assert isinstance(outside, Unscored) if box == (0, 0, 1, 1) else value(outside) == 0.0
