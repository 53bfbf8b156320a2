"""Full-reference metrics: values against pyiqa and scikit-image, and what registration makes of them."""

from __future__ import annotations

import io
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import gaussian_filter
from tests.evaluators.comparing import build, result_of, scored
from tests.evaluators.warps import WEAR, Rgb, cropped, photograph, rounded
from tests.packages import need_pyiqa

from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, Unscored
from turngate.evaluators.registration import register
from turngate.picture import Picture
from turngate.testing import check_evaluator

THEIRS: Any = import_module("skimage.metrics")
COLOUR: Any = import_module("skimage.color")
METRICS = ("psnr", "ssim", "ms_ssim", "ciede2000")
SIZES = [
    ("astronaut", None),
    ("coffee", None),
    ("chelsea", (304, 272)),
    ("astronaut", (301, 277)),
    ("coffee", (193, 391)),
]


def jpeg(rgb: Rgb, quality: int) -> Rgb:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer).convert("RGB"))


def cut(name: str, size: tuple[int, int] | None) -> Rgb:
    rgb = photograph(name)
    return rgb if size is None else np.ascontiguousarray(rgb[: size[0], : size[1]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw",
    [
        *({"type": name, "align": align} for name, align in product(METRICS, ("none", "shift", "crop", "full"))),
        {"type": "ms_ssim", "align": "crop", "against": "previous"},
        "geometry",
        {"type": "geometry", "align": "crop", "against": "previous"},
    ],
    ids=str,
)
def test_the_contract_is_kept(raw: Any) -> None:
    check_evaluator(build(raw))


# Values


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tolerance"), [("psnr", 1e-4), ("ssim", 1e-5), ("ms_ssim", 0.02)])
def test_agrees_with_pyiqa(name: str, tolerance: float) -> None:
    """pyiqa's MS-SSIM surrounds a scale of odd size with black before it halves it."""
    need_pyiqa()
    for photo, size in SIZES[2:]:
        origin = cut(photo, size)
        even = all(side % 16 == 0 for side in origin.shape[:2])
        for candidate in (jpeg(origin, 25), WEAR["all three"](origin)):
            expected = scored(f"pyiqa:{name}", candidate, origin).value
            here = pytest.approx(expected, abs=min(tolerance, 1e-5) if name == "ms_ssim" and even else tolerance)
            assert scored(name, candidate, origin).value == here, (photo, size)


@pytest.mark.parametrize(("photo", "size"), SIZES)
def test_psnr_and_ssim_agree_with_scikit_image(photo: str, size: tuple[int, int] | None) -> None:
    origin = cut(photo, size)
    candidate = jpeg(origin, 25)
    assert scored("psnr", candidate, origin).value == pytest.approx(
        THEIRS.peak_signal_noise_ratio(origin, candidate), abs=1e-3
    )
    gray = [np.rint(Picture.from_rgb(rgb).gray) for rgb in (candidate, origin)]
    similar = THEIRS.structural_similarity(
        *gray, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255, full=True
    )[1]
    assert scored("ssim", candidate, origin).value == pytest.approx(similar[5:-5, 5:-5].mean(), abs=1e-4)


def test_ms_ssim_forgives_what_ssim_does_not() -> None:
    """Fine noise weighs less across scales, a coarse blotch weighs as much: that is what the scales are for."""
    origin = photograph("coffee")
    noisy = WEAR["noise of 40 levels"](origin)
    assert scored("ms_ssim", noisy, origin).value > scored("ssim", noisy, origin).value + 0.2
    assert scored("ms_ssim", origin, origin).value == pytest.approx(1)


def test_identical_images_have_finite_scores() -> None:
    origin = photograph("chelsea")
    values = {"psnr": 80.0, "ssim": 1.0, "ms_ssim": 1.0, "ciede2000": 0.0, "geometry": 0.0}
    for name, value in values.items():
        assert scored(name, origin, origin).value == pytest.approx(value)


def test_a_common_area_that_is_too_small_is_unscored() -> None:
    whole = photograph("astronaut")
    for name, side in (("ssim", 11), ("ms_ssim", 161)):
        small = whole[:side, : side + 20]
        assert scored(name, small, small).value == pytest.approx(1)
        result = result_of({"type": name, "align": "crop"}, small, whole[: side - 1, : side + 20])
        assert isinstance(result, Unscored)
        assert result.why == "too_small"


def test_colour_shift_of_a_flat_colour_is_the_published_one() -> None:
    """One cell or many: a uniform change of colour is the plain CIEDE2000 of the two colours."""
    first, second = (np.full((64, 96, 3), colour, dtype=np.uint8) for colour in ((200, 120, 60), (180, 140, 90)))
    lab = [COLOUR.rgb2lab(rgb / 255) for rgb in (first, second)]
    expected = float(COLOUR.deltaE_ciede2000(*lab)[0, 0])
    result = scored("ciede2000", second, first)
    assert result.value == pytest.approx(expected, abs=1e-4)
    assert result.components["mean_colour"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ["astronaut", "coffee", "rocket"])
def test_noise_is_no_colour_shift_and_a_cast_is(name: str) -> None:
    origin = photograph(name)
    noisy = rounded(origin + np.random.default_rng(1).normal(0, 10, origin.shape))
    cast = rounded(origin + np.array([-12.0, 14.0, -12.0]))
    blurred = rounded(gaussian_filter(origin.astype(float), (2, 2, 0)))
    assert scored("ciede2000", noisy, origin).value < 0.8
    assert scored("ciede2000", blurred, origin).value < 0.8
    assert scored("ciede2000", cast, origin).value > 8


def test_opposite_shifts_in_two_places_cancel_in_the_mean_colour_only() -> None:
    origin = np.full((128, 128, 3), 128, dtype=np.uint8)
    halves = origin.copy()
    halves[:, :64, 0], halves[:, 64:, 0] = 108, 148
    result = scored("ciede2000", halves, origin)
    assert result.value > 5
    assert result.components["mean_colour"] < 0.5


# Registration


@pytest.mark.slow
@pytest.mark.parametrize("wear", [name for name in WEAR if name != "none"])
@pytest.mark.parametrize("name", ["psnr", "ssim", "ms_ssim"])
def test_a_crop_of_three_per_cent_hardly_changes_a_score(name: str, wear: str) -> None:
    origin = photograph("coffee", 384)
    height, width = origin.shape[:2]
    candidate = WEAR[wear](cropped(origin, (0.01 * width, 0.02 * height, 0.985 * width, 0.995 * height)))
    plain = scored(name, WEAR[wear](origin), origin).value
    aligned = scored({"type": name, "align": "crop"}, candidate, origin).value
    unaligned = scored(name, candidate, origin).value
    assert aligned == pytest.approx(plain, abs=0.35 if name == "psnr" else 0.02)
    assert abs(aligned - plain) < abs(unaligned - plain) / 3


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.tuples(*[st.floats(0, 0.015)] * 4))
def test_any_crop_to_three_per_cent_leaves_psnr_of_noise_as_it_is(cuts: tuple[float, float, float, float]) -> None:
    origin = photograph("astronaut", 256)
    noise = WEAR["noise of 40 levels"]
    box = (256 * cuts[0], 256 * cuts[1], 256 * (1 - cuts[2]), 256 * (1 - cuts[3]))
    plain = scored("psnr", noise(origin), origin).value
    aligned = scored({"type": "psnr", "align": "crop"}, noise(cropped(origin, box)), origin).value
    assert aligned == pytest.approx(plain, abs=0.15)


def test_scores_say_what_was_undone() -> None:
    origin = photograph("coffee", 300)
    mirrored = np.ascontiguousarray(cropped(origin, (6, 0, 294, 200))[:, ::-1])
    for name in METRICS:
        result = scored({"type": name, "align": "full"}, mirrored, origin)
        assert result.flags[0] == "mirrored"
        assert result.flags[1].startswith("cropped:+")
        numbers = result.components
        assert numbers["crop_x"] == pytest.approx(4, abs=0.1)
        assert numbers["crop_y"] == pytest.approx(0, abs=0.1)
        assert (numbers["mirrored"], numbers["rotation"]) == (1, 0)
        assert numbers["confidence"] > 0.9
    assert "mean_colour" in numbers


def test_what_cannot_be_registered_is_compared_as_it_is_and_says_so() -> None:
    origin, other = photograph("coffee", 300), photograph("chelsea", 300)
    plain = scored("psnr", other, origin)
    result = scored({"type": "psnr", "align": "full"}, other, origin)
    assert result.value == plain.value
    assert "unregistered:no_match" in result.flags
    assert "crop_x" not in result.components
    flat = np.full_like(origin, 90)
    assert "unregistered:flat" in scored({"type": "ssim", "align": "crop"}, flat, origin).flags


def test_another_size_is_resized_and_flagged() -> None:
    origin = photograph("astronaut")
    smaller = cropped(origin, (0, 0, 512, 512), (500, 490))
    result = scored("ssim", smaller, origin)
    assert result.value > 0.9
    assert result.flags == ("resized:500x490->512x512",)
    assert scored({"type": "ssim", "align": "crop"}, smaller, origin).flags == ("size:500x490/512x512",)


@pytest.mark.parametrize("size", [(150, 100), (600, 400), (320, 180)])
def test_another_size_is_scored_by_every_metric(size: tuple[int, int]) -> None:
    origin = photograph("coffee", 300)
    candidate = cropped(origin, (0, 15, 300, 184) if size == (320, 180) else (0, 0, 300, 200), size)
    for name in ("psnr", "ssim", "ciede2000", "geometry"):
        result = scored(name if name == "geometry" else {"type": name, "align": "crop"}, candidate, origin)
        assert any(flag.startswith("size:") for flag in result.flags)
    assert scored({"type": "psnr", "align": "crop"}, candidate, origin).value > 25


def test_an_unknown_alignment_is_refused() -> None:
    with pytest.raises(ConfigError, match="'none', 'shift', 'crop' or 'full'"):
        EVALUATORS.configure({"type": "psnr", "align": "corp"}, "x")


# Translation only


def test_shift_undoes_a_shift_and_says_so() -> None:
    origin = photograph("coffee")
    damaged = jpeg(origin, 60)
    shifted = np.roll(damaged, (4, -7), axis=(0, 1))
    plain = scored("psnr", damaged, origin).value
    assert scored("psnr", shifted, origin).value < plain - 5
    aligned = scored({"type": "psnr", "align": "shift"}, shifted, origin)
    assert aligned.value == pytest.approx(plain, abs=0.5)
    assert aligned.flags == ("shifted:+7.0,-4.0",)
    assert aligned.components == {"shift_x": 7.0, "shift_y": -4.0}


@pytest.mark.parametrize("name", ["astronaut", "coffee", "chelsea"])
@pytest.mark.parametrize("blur", [0, 2, 5])
def test_shift_finds_the_shift_of_a_blurred_candidate(name: str, blur: int) -> None:
    """A worn image is blurred and noisy; where it moved to must still be found, within half a pixel."""
    whole = photograph(name).astype(float)
    worn = gaussian_filter(whole, (blur, blur, 0)) + np.random.default_rng(2).normal(0, 5, whole.shape)
    height, width = whole.shape[:2]
    origin = Picture.from_rgb(whole[16 : height - 16, 16 : width - 16].astype(np.uint8))
    # Another window of the same scene: unlike a rotation of pixels, nothing comes back in at the other side.
    moved = np.clip(worn, 0, 255).astype(np.uint8)[11 : height - 21, 24 : width - 8]
    flags = register(Picture.from_rgb(moved), origin, "shift").flags
    assert flags and flags[0].startswith("shifted:")
    columns, rows = (float(step) for step in flags[0].removeprefix("shifted:").split(","))
    assert columns == pytest.approx(8, abs=0.5)
    assert rows == pytest.approx(-5, abs=0.5)


def test_shift_leaves_alone_what_is_aligned() -> None:
    origin = photograph("astronaut")
    damaged = jpeg(origin, 20)
    assert scored({"type": "psnr", "align": "shift"}, damaged, origin).value == scored("psnr", damaged, origin).value
