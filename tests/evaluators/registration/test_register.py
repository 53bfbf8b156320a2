"""Where a candidate lies on its reference is found on worn images, and never made up."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import Literal

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import gaussian_filter
from tests.evaluators.warps import WEAR, Box, Rgb, cropped, error, photograph, rounded

from turngate.agent.editor import Edited, EditRequest
from turngate.agent.editors import EDITORS
from turngate.evaluators.registration import (
    ORIENTATIONS,
    SAME,
    UPRIGHT,
    Geometry,
    Orientation,
    fit,
    level,
    locate,
    register,
)
from turngate.memo import Memo
from turngate.picture import Picture

PHOTOGRAPHS = ("astronaut", "coffee", "chelsea", "rocket")
CROP: Box = (7.3, 2.1, 296.8, 196.4)
"""Of 300 pixels across: crop, shift and two scales at once."""


def _fit(reference: Rgb, candidate: Rgb) -> Geometry:
    return fit(reference, candidate, (UPRIGHT,))


def _flags(candidate: Rgb, reference: Rgb, align: Literal["crop", "full"] = "crop") -> tuple[str, ...]:
    return register(Picture.from_rgb(candidate), Picture.from_rgb(reference), align).flags


@pytest.mark.slow
@pytest.mark.parametrize("wear", WEAR)
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_a_crop_is_found_on_worn_images(name: str, wear: str) -> None:
    reference = photograph(name, 300)
    height, width = reference.shape[:2]
    box = (0.02 * width, 0.005 * height, 0.97 * width, 0.985 * height)
    found = _fit(reference, WEAR[wear](cropped(reference, box)))
    assert found.refused is None
    assert error(found, box) < (0.3 if wear == "none" else 0.7)
    assert found.uncertainty < (0.5 if wear == "none" else 1.5)


@pytest.mark.slow
@pytest.mark.parametrize("wear", WEAR)
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_a_fit_without_detail_to_hold_on_to_is_called_uncertain(name: str, wear: str) -> None:
    """Off by 0.8 to 9 pixels here: as a number without a word that would be the truth of a run."""
    smooth = rounded(gaussian_filter(photograph(name, 300).astype(float), (16, 16, 0)))
    height, width = smooth.shape[:2]
    box = (0.02 * width, 0.005 * height, 0.97 * width, 0.985 * height)
    candidate = WEAR[wear](cropped(smooth, box))
    found = _fit(smooth, candidate)
    flags = _flags(candidate, smooth)
    if found.refused is None:
        assert found.uncertainty >= 1
        assert error(found, box) < 5 * found.uncertainty
        assert any(flag.startswith("uncertain:") for flag in flags)
    else:
        assert "unregistered:no_match" in flags


@settings(deadline=None, max_examples=10)
@given(st.tuples(*[st.floats(0, 0.04)] * 4))
def test_any_crop_to_eight_per_cent_is_found(cuts: tuple[float, float, float, float]) -> None:
    reference = photograph("astronaut", 256)
    box = (256 * cuts[0], 256 * cuts[1], 256 * (1 - cuts[2]), 256 * (1 - cuts[3]))
    assert error(_fit(reference, WEAR["noise of 40 levels"](cropped(reference, box))), box) < 0.5


@pytest.mark.parametrize(("right", "down"), [(0.0, 0.0), (3.0, -2.0), (20.0, 20.0), (-0.5, 7.25), (11.4, -19.7)])
def test_a_shift_to_20_pixels_is_found(right: float, down: float) -> None:
    scene = photograph("coffee", 448)
    inner = scene[24:-24, 24:-24]
    height, width = inner.shape[:2]
    moved = cropped(scene, (24 + right, 24 + down, 24 + right + width, 24 + down + height), (width, height))
    found = _fit(inner, moved)
    assert error(found, (right, down, right + width, down + height)) < 0.15
    numbers = found.components()
    assert (numbers["shift_x"], numbers["shift_y"]) == pytest.approx((right, down), abs=0.15)
    assert (numbers["crop_x"], numbers["crop_y"]) == pytest.approx((0, 0), abs=0.05)


def test_an_image_that_a_network_wore_out_is_still_found() -> None:
    editor = EDITORS.build(EDITORS.configure({"type": "span", "scale": 4}, "x"))
    current = Picture.from_rgb(photograph("astronaut", 256))
    for turn in range(1, 21):
        answer = editor.edit(EditRequest((current,), "copy", turn, 1, 1000 + turn))
        assert isinstance(answer, Edited)
        current = Picture.from_bytes(answer.data)
    reference = photograph("astronaut", 256)
    for box in ((0.0, 0.0, 256.0, 256.0), (4.5, 1.2, 251.0, 255.0)):
        assert error(_fit(reference, cropped(current.rgb, box)), box) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ORIENTATIONS, ids=str)
@pytest.mark.parametrize("wear", ["none", "all three"])
def test_mirroring_and_quarter_turns_are_found(orientation: Orientation, wear: str) -> None:
    reference = photograph("coffee", 300)
    upright = WEAR[wear](cropped(reference, CROP))
    candidate = np.rot90(upright[:, ::-1] if orientation.mirrored else upright, -orientation.quarters)
    found = fit(reference, candidate, ORIENTATIONS)
    assert found.orientation == orientation
    assert error(found, CROP) < 0.7
    pair = register(Picture.from_rgb(candidate), Picture.from_rgb(reference), "full")
    assert pair.candidate.shape == pair.reference.shape
    assert np.corrcoef(pair.candidate.ravel(), pair.reference.ravel())[0, 1] > 0.9
    assert ("mirrored" in pair.flags) == orientation.mirrored
    assert (f"rotated:{90 * orientation.quarters}" in pair.flags) == (orientation.quarters > 0)
    assert pair.components["rotation"] == 90 * orientation.quarters


def test_orientation_is_left_alone_unless_asked_for() -> None:
    reference = photograph("astronaut", 300)
    assert "unregistered:no_match" in _flags(np.ascontiguousarray(reference[:, ::-1]), reference, "crop")
    assert _flags(np.ascontiguousarray(reference[:, ::-1]), reference, "full") == ("mirrored",)


def test_a_symmetric_picture_is_not_called_mirrored() -> None:
    half = photograph("chelsea", 300)[:, :150]
    symmetric = np.concatenate([half, half[:, ::-1]], axis=1)
    found = fit(symmetric, WEAR["noise of 40 levels"](symmetric), ORIENTATIONS)
    assert found.orientation == UPRIGHT
    assert error(found, (0, 0, 300, symmetric.shape[0])) < 0.3


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.tuples(*[st.floats(0, 0.03)] * 4), st.booleans())
def test_a_warp_and_its_inverse_cancel(cuts: tuple[float, float, float, float], noisy: bool) -> None:
    first = photograph("chelsea", 256)
    height, width = first.shape[:2]
    second = cropped(first, (width * cuts[0], height * cuts[1], width * (1 - cuts[2]), height * (1 - cuts[3])))
    if noisy:
        second = WEAR["noise of 40 levels"](second)
    there, back = _fit(first, second).view, _fit(second, first).view
    assert there.scale_x * back.scale_x == pytest.approx(1, abs=0.004)
    assert there.scale_y * back.scale_y == pytest.approx(1, abs=0.006)
    assert (there.scale_x * back.offset_x + there.offset_x) * width == pytest.approx(0, abs=0.6)
    assert (there.scale_y * back.offset_y + there.offset_y) * height == pytest.approx(0, abs=0.6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("box", "size"),
    [
        ((0, 0, 300, 200), (150, 100)),
        ((0, 0, 300, 200), (600, 400)),
        ((0, 0, 300, 200), (390, 200)),
        ((9, 4, 279, 184), (270, 180)),
        ((0, 15.6, 300, 184.4), (1024, 576)),
        ((50, 0, 250, 200), (512, 512)),
        ((24, 16, 264, 176), (300, 200)),
    ],
    ids=["half", "double", "stretched", "cut out", "to 16:9", "to a square", "crop of 20 %"],
)
@pytest.mark.parametrize("wear", ["none", "all three"])
def test_a_candidate_of_another_size_is_found(box: Box, size: tuple[int, int], wear: str) -> None:
    reference = photograph("coffee", 300)
    candidate = WEAR[wear](cropped(reference, box, size))
    found = _fit(reference, candidate)
    assert found.refused is None
    assert error(found, box) < 0.9 * max(1, size[0] / 300)
    pair = register(Picture.from_rgb(candidate), Picture.from_rgb(reference), "crop")
    assert pair.candidate.shape == pair.reference.shape
    assert (f"size:{size[0]}x{size[1]}/300x200" in pair.flags) == (size != (300, 200))


def test_a_letterboxed_candidate_shows_more_than_the_reference() -> None:
    reference = photograph("coffee", 300)
    candidate = np.zeros((300, 300, 3), dtype=np.uint8)
    candidate[50:250] = reference
    found = _fit(reference, candidate)
    numbers = found.components()
    assert numbers["overlap"] == pytest.approx(100, abs=0.5)
    assert (numbers["crop_x"], numbers["crop_y"]) == pytest.approx((0, -50), abs=0.5)
    pair = register(Picture.from_rgb(candidate), Picture.from_rgb(reference), "crop")
    assert np.abs(pair.candidate - pair.reference).mean() < 1


def test_the_candidates_own_pixels_are_compared() -> None:
    """Interpolation would smooth the noise that is to be measured."""
    reference = photograph("coffee", 300)
    candidate = WEAR["noise of 40 levels"](cropped(reference, CROP))
    pair = register(Picture.from_rgb(candidate), Picture.from_rgb(reference), "crop")
    assert pair.candidate.shape == candidate.shape, "a crop shows nothing that the reference has not"
    assert np.array_equal(pair.candidate, candidate)


@pytest.mark.parametrize("wear", WEAR)
def test_what_was_not_moved_is_not_resampled(wear: str) -> None:
    reference = photograph("astronaut", 384)
    pair = register(Picture.from_rgb(WEAR[wear](reference)), Picture.from_rgb(reference), "full")
    assert np.array_equal(pair.reference, reference)
    assert np.array_equal(pair.candidate, WEAR[wear](reference))
    assert pair.flags == ()


def test_a_shift_by_whole_pixels_is_undone_exactly() -> None:
    scene = photograph("astronaut", 400)
    pair = register(Picture.from_rgb(scene[13:, 5:]), Picture.from_rgb(scene[:-13, :-5]), "crop")
    assert np.array_equal(pair.candidate, pair.reference)
    assert pair.flags == ("shifted:+5.0,+13.0",)


@pytest.mark.slow
@pytest.mark.parametrize("side", [64, 300])
@pytest.mark.parametrize(("first", "second"), list(pairwise((*PHOTOGRAPHS, PHOTOGRAPHS[0]))))
def test_unrelated_images_are_not_registered(first: str, second: str, side: int) -> None:
    assert "unregistered:no_match" in _flags(photograph(second, side), photograph(first, side), "full")


def test_where_the_fit_is_not_believed_whole_frames_are_compared() -> None:
    one, other = photograph("astronaut", 200), photograph("coffee", 200)
    trusted = register(Picture.from_rgb(one), Picture.from_rgb(other), "crop")
    plain = register(Picture.from_rgb(one), Picture.from_rgb(other), "none")
    assert np.array_equal(trusted.candidate, plain.candidate)
    assert np.array_equal(trusted.reference, plain.reference)
    assert set(trusted.components) == {"confidence"}


def test_flat_and_tiny_images_are_not_registered() -> None:
    flat = np.full((80, 90, 3), 70, dtype=np.uint8)
    picture = photograph("astronaut", 90)
    assert "unregistered:flat" in _flags(flat, picture)
    assert "unregistered:flat" in _flags(picture, flat)
    assert _flags(flat, flat.copy()) == (), "identical images lie on each other, whatever they show"
    assert "unregistered:too_small" in _flags(picture[:15], picture)
    noise = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
    assert "unregistered:no_match" in _flags(noise[0], noise[1])


@pytest.mark.parametrize("side", [40, 52, 63])
def test_images_below_64_pixels_are_registered_when_they_can_be(side: int) -> None:
    reference = photograph("astronaut", side)
    box = (0.03 * side, 0.0, side, 0.98 * side)
    found = _fit(reference, cropped(reference, box))
    assert found.refused is None
    assert error(found, box) < 0.3


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(*[st.integers(1, 90)] * 4, st.integers(0, 3))
def test_any_two_sizes_end_on_one_grid(width: int, height: int, there_x: int, there_y: int, seed: int) -> None:
    whole = photograph("rocket", 200)
    rng = np.random.default_rng(seed)
    reference = whole[20 : 20 + height, 30 : 30 + width]
    candidate = rounded(whole[22 : 22 + there_y, 28 : 28 + there_x] + rng.normal(0, 9, (1, 1, 3)))
    for align in ("none", "shift", "crop", "full"):
        pair = register(Picture.from_rgb(candidate), Picture.from_rgb(reference), align)
        assert pair.candidate.shape == pair.reference.shape
        assert min(pair.candidate.shape) > 0


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_never_worse_than_the_whole_frame_by_its_own_measure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    reference = photograph(str(rng.choice(PHOTOGRAPHS)), 200)
    height, width = reference.shape[:2]
    cuts = rng.uniform(0, 0.06, 4)
    candidate = cropped(reference, (cuts[0] * width, cuts[1] * height, (1 - cuts[2]) * width, (1 - cuts[3]) * height))
    candidate = rounded(candidate + rng.normal(0, rng.uniform(0, 90), candidate.shape))
    found = _fit(reference, candidate)
    judge = level(reference, candidate, 512, 8)
    assert found.refused or judge.correlation(found.view) >= judge.correlation(SAME)


def test_the_same_bits_again_on_any_number_of_threads() -> None:
    reference = photograph("coffee", 300)
    candidate = WEAR["all three"](cropped(reference, CROP))
    first, before = fit(reference, candidate, ORIENTATIONS), cv2.getNumThreads()
    try:
        for threads in (1, 3):
            cv2.setNumThreads(threads)
            assert fit(reference, candidate, ORIENTATIONS) == first
    finally:
        cv2.setNumThreads(before)


def test_a_tilt_is_said_and_not_undone() -> None:
    whole = Image.fromarray(photograph("coffee", 400))
    tilted = np.asarray(whole.rotate(-0.8, Image.Resampling.BICUBIC))[20:-20, 20:-20]
    reference = np.asarray(whole)[20:-20, 20:-20]
    geometry = locate(Picture.from_rgb(tilted), Picture.from_rgb(reference), "crop")
    assert geometry.tilt == pytest.approx(0.8, abs=0.05)
    assert geometry.flags()[-1] == "tilted:+0.8"
    assert abs(_fit(reference, WEAR["all three"](reference)).tilt) < 0.1


def test_large_images_are_refined_at_a_finer_scale() -> None:
    reference = photograph("astronaut", 1400)
    box = (10.7, 3.3, 1391.2, 1380.9)
    assert error(_fit(reference, cropped(reference, box)), box) < 0.25


def test_the_memo_works_out_an_answer_once() -> None:
    memo: Memo[int] = Memo(kept=2)
    calls: list[str] = []

    def slow() -> int:
        calls.append("slow")
        time.sleep(0.05)
        return 7

    got: list[int] = []
    threads = [threading.Thread(target=lambda: got.append(memo.get("key", slow))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (got, calls) == ([7] * 8, ["slow"])
    assert [memo.get(key, lambda: 1) for key in ("a", "b")] == [1, 1]
    assert memo.get("key", lambda: 8) == 8, "only the last two are kept"


def test_the_memo_does_not_remember_an_exception() -> None:
    memo: Memo[int] = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.get("key", lambda: 1 // 0)
    assert memo.get("key", lambda: 3) == 3
