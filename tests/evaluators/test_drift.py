"""`drift` counts the damage of recursive editing, and not what an edit may do."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import distance_transform_edt, gaussian_filter, map_coordinates
from skimage import data

from turngate import Edited, EditRequest
from turngate.agent.editors import EDITORS
from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, Result, Sample, Score, Unscored
from turngate.evaluators.drift import ALARM, UNITS, Drift, DriftConfig, combine
from turngate.evaluators.scoring import score
from turngate.picture import Picture
from turngate.testing import check_evaluator

Rgb = NDArray[np.uint8]
PHOTOGRAPHS: dict[str, Callable[[], Rgb]] = {
    "astronaut": data.astronaut, "coffee": data.coffee, "chelsea": data.chelsea,
}  # fmt: skip


def _rounded(values: NDArray[np.floating[Any]]) -> Rgb:
    eight_bit: Rgb = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return eight_bit


def _drift(reference: Rgb, candidate: Rgb) -> Result:
    sample = Sample(Picture.from_rgb(candidate), origin=Picture.from_rgb(reference))
    return score(Drift(DriftConfig(type="drift")), [sample])[0]


def _scored(reference: Rgb, candidate: Rgb) -> Score:
    result = _drift(reference, candidate)
    assert isinstance(result, Score), result
    return result


def _jpeg(rgb: Rgb, quality: int) -> Rgb:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer).convert("RGB"))


def _object_added(rgb: Rgb) -> Rgb:
    """A noisy green ball over 8 % of the image."""
    height, width = rgb.shape[:2]
    rows, columns = np.mgrid[:height, :width]
    inside = np.hypot(rows - 0.6 * height, columns - 0.3 * width) < np.sqrt(0.08 * height * width / np.pi)
    ball = np.array([40.0, 200.0, 60.0]) + np.random.default_rng(0).normal(0, 25, rgb.shape)
    return _rounded(np.where(inside[:, :, None], ball, rgb))


def _resized(rgb: Rgb, width: int, height: int) -> Rgb:
    return np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.LANCZOS))


CLEAN: dict[str, Callable[[Rgb], Rgb]] = {
    "cropped by 3 %": lambda rgb: rgb[: -(rgb.shape[0] * 3 // 100), rgb.shape[1] * 3 // 100 :],
    "cropped and enlarged back": lambda rgb: _resized(
        rgb[rgb.shape[0] * 3 // 100 :, : -(rgb.shape[1] * 3 // 100)], rgb.shape[1], rgb.shape[0]
    ),
    "shifted by 10 pixels": lambda rgb: np.pad(rgb, ((10, 0), (0, 10), (0, 0)), mode="edge")[:-10, 10:],
    "7 % smaller": lambda rgb: _resized(rgb, rgb.shape[1] * 93 // 100, rgb.shape[0] * 93 // 100),
    "JPEG q 90": lambda rgb: _jpeg(rgb, 90),
    "JPEG q 100": lambda rgb: _jpeg(rgb, 100),
    "10 % brighter": lambda rgb: _rounded(rgb * 1.1),
    "10 % darker": lambda rgb: _rounded(rgb * 0.9),
    "25 levels darker": lambda rgb: _rounded(rgb - 25.0),
    "object added": _object_added,
    "all at once": lambda rgb: _jpeg(_rounded(_object_added(rgb)[9:, 5:] * 0.95), 90),
}


def _noise(rgb: Rgb, deviation: float) -> Rgb:
    return _rounded(rgb + np.random.default_rng(1).normal(0, deviation, rgb.shape))


def _wobble(rgb: Rgb, pixels: float) -> Rgb:
    """Everything moves a little, each place its own way: nothing is lost, nothing fits."""
    rng = np.random.default_rng(2)
    moves = [gaussian_filter(rng.normal(size=rgb.shape[:2]), 6) for _ in range(2)]
    grid = np.mgrid[: rgb.shape[0], : rgb.shape[1]]
    at = [axis + pixels * move / move.std() for axis, move in zip(grid, moves, strict=True)]
    planes = [map_coordinates(rgb[:, :, colour].astype(float), at, order=3, mode="mirror") for colour in range(3)]
    return _rounded(np.stack(planes, axis=2))


def _smeared(rgb: Rgb, amount: float) -> Rgb:
    """Nothing finer than 7 pixels is left, and everything coarser stays."""
    radius = np.hypot(np.fft.fftfreq(rgb.shape[0])[:, None], np.fft.fftfreq(rgb.shape[1])[None, :])
    kept = np.where(radius > 0.14, 1 - 0.95 * amount, 1.0)[:, :, None]
    return _rounded(np.fft.ifft2(np.fft.fft2(rgb.astype(float), axes=(0, 1)) * kept, axes=(0, 1)).real)


def _harsh(rgb: Rgb, amount: float) -> Rgb:
    """Contrast between 1.5 and 8 pixels grows, noise does not."""
    soft = [gaussian_filter(rgb.astype(float), (size, size, 0)) for size in (1.5, 8)]
    return _rounded(rgb + amount * (soft[0] - soft[1]))


def _ringing(rgb: Rgb, levels: float) -> Rgb:
    """Wrinkles 5 pixels apart along every strong contour."""
    soft = gaussian_filter(rgb @ np.array([0.299, 0.587, 0.114]), 1)
    away = distance_transform_edt(np.hypot(*np.gradient(soft)) <= 15)
    rings = levels * np.cos(2 * np.pi * away / 5) * ((away > 0) & (away < 9))
    return _rounded(rgb + rings[:, :, None])


def _stripes(rgb: Rgb, amplitude: float) -> Rgb:
    return _rounded(rgb + amplitude * np.cos(2 * np.pi * np.arange(rgb.shape[1]) / 5)[None, :, None])


def _blotches(rgb: Rgb, amplitude: float) -> Rgb:
    wild = gaussian_filter(np.random.default_rng(2).normal(size=rgb.shape[:2]), 40)
    return _rounded(rgb + (amplitude * wild / wild.std())[:, :, None])


DAMAGE: dict[str, tuple[Callable[[Rgb, float], Rgb], set[str]]] = {
    "noise": (lambda rgb, amount: _noise(rgb, 6 * amount), set()),
    "residual": (lambda rgb, amount: _wobble(rgb, 1.5 * amount), set()),
    "texture": (_smeared, set()),
    "blur": (
        lambda rgb, amount: _rounded(gaussian_filter(rgb.astype(float), (2 * amount, 2 * amount, 0))),
        {"texture"},
    ),
    "contrast": (lambda rgb, amount: _harsh(rgb, 1.2 * amount), {"halo"}),
    "halo": (lambda rgb, amount: _ringing(rgb, 30 * amount), {"residual", "contrast"}),
    "lattice": (lambda rgb, amount: _stripes(rgb, 4 * amount), set()),
    "chroma": (lambda rgb, amount: _rounded(rgb + amount * np.array([-12.0, 14.0, -12.0])), set()),
    "tone": (lambda rgb, amount: _blotches(rgb, 30 * amount), set()),
}
"""Each component's own damage, from none (0) to heavy (1), and components that it cannot but raise as well."""


@pytest.fixture(params=PHOTOGRAPHS)
def photograph(request: pytest.FixtureRequest) -> Rgb:
    return PHOTOGRAPHS[request.param]()


@pytest.mark.parametrize("reference", ["origin", "first"])
def test_the_contract_is_kept(reference: str) -> None:
    check_evaluator(EVALUATORS.build(EVALUATORS.configure({"type": "drift", "reference": reference}, "test")))


def test_an_exact_replica_has_no_drift(photograph: Rgb) -> None:
    result = _scored(photograph, photograph.copy())
    assert result.value == 0
    assert result.label == "steady"
    assert set(result.components) == set(ALARM)
    assert not any(result.components.values())


@pytest.mark.parametrize("edit", CLEAN)
def test_a_clean_edit_stays_well_below_the_alarm(photograph: Rgb, edit: str) -> None:
    assert _scored(photograph, CLEAN[edit](photograph)).value < 0.7


@pytest.mark.parametrize("component", DAMAGE)
def test_each_damage_grows_and_is_named(photograph: Rgb, component: str) -> None:
    damage, companions = DAMAGE[component]
    results = [_scored(photograph, damage(photograph, amount)) for amount in (0, 0.25, 0.5, 1)]
    values, own = [result.value for result in results], [result.components[component] for result in results]
    assert values == sorted(set(values)), "more damage, more drift"
    assert own == sorted(own)
    heaviest = results[-1]
    assert heaviest.label == "drifted"
    weights = {name: heaviest.components[name] / level for name, level in ALARM.items()}
    assert weights[component] > 1
    assert {name for name, weight in weights.items() if weight >= 1} <= {component} | companions
    if not companions:
        assert str(heaviest.explanation).startswith(component)


@pytest.mark.parametrize("photo", PHOTOGRAPHS)
@settings(deadline=None, max_examples=4)
@given(low=st.floats(0, 1), step=st.floats(0.05, 0.5))
def test_blending_towards_noise_never_lowers_drift(photo: str, low: float, step: float) -> None:
    rgb = PHOTOGRAPHS[photo]()
    noisy = rgb + np.random.default_rng(3).normal(0, 30, rgb.shape)
    values = [_scored(rgb, _rounded((1 - share) * rgb + share * noisy)).value for share in (low, low + step)]
    assert values[1] > values[0]


def test_damage_in_one_place_is_an_edit_and_everywhere_is_drift(photograph: Rgb) -> None:
    noisy = _noise(photograph, 20)
    local = photograph.copy()
    corner = tuple(slice(0, side // 3) for side in photograph.shape[:2])
    local[corner] = noisy[corner]
    assert _scored(photograph, local).value < 0.7
    assert _scored(photograph, noisy).value > 2


def test_an_added_object_is_masked_and_hides_no_wear(photograph: Rgb) -> None:
    added = _object_added(photograph)
    clean, worn, alone = (
        _scored(photograph, candidate) for candidate in (added, _noise(added, 5), _noise(photograph, 5))
    )
    assert clean.value < 0.2
    (flag,) = clean.flags
    assert 0.08 < float(flag.removeprefix("edited:")) < 0.4
    assert worn.value == pytest.approx(alone.value, rel=0.15)


def test_where_everything_changes_nothing_counts_as_edited() -> None:
    coffee, cat = PHOTOGRAPHS["coffee"]()[:300, :451], PHOTOGRAPHS["chelsea"]()
    result = _scored(coffee, cat)
    assert result.value > 2
    assert "unregistered" in result.flags
    assert _scored(coffee, _rounded(255.0 - coffee)).value > 2


def test_the_value_is_the_documented_norm() -> None:
    assert set(UNITS) == set(ALARM)
    assert combine(ALARM) == pytest.approx(len(ALARM) ** (1 / 3))
    for name, level in ALARM.items():
        alone = dict.fromkeys(ALARM, 0.0) | {name: level}
        assert combine(alone) == pytest.approx(1)
    rgb = PHOTOGRAPHS["coffee"]()
    result = _scored(rgb, _noise(rgb, 4))
    assert result.value == pytest.approx(sum((result.components[n] / ALARM[n]) ** 3 for n in ALARM) ** (1 / 3))


def test_a_flat_reference_is_unscored_and_a_flattened_candidate_is_drift() -> None:
    flat = np.full((128, 128, 3), 90, dtype=np.uint8)
    result = _drift(flat, _noise(flat, 5))
    assert isinstance(result, Unscored)
    assert result.why == "flat"
    assert _scored(PHOTOGRAPHS["coffee"](), np.full((400, 600, 3), 90, dtype=np.uint8)).value > 2


def test_batches_orders_and_repeats_do_not_change_a_bit() -> None:
    rgb = PHOTOGRAPHS["chelsea"]()
    origin, other = Picture.from_rgb(rgb), Picture.from_rgb(PHOTOGRAPHS["coffee"]())
    samples = [Sample(Picture.from_rgb(_noise(rgb, level)), origin=origin) for level in (1, 3, 9)]
    samples.insert(1, Sample(Picture.from_rgb(_jpeg(PHOTOGRAPHS["coffee"](), 50)), origin=other))
    evaluator = Drift(DriftConfig(type="drift"))
    together = evaluator.evaluate(samples)
    assert together == [evaluator.evaluate([sample])[0] for sample in samples]
    assert together == Drift(DriftConfig(type="drift")).evaluate(samples[::-1])[::-1]


def test_forgotten_references_are_measured_again() -> None:
    evaluator = Drift(DriftConfig(type="drift"))
    rgb = PHOTOGRAPHS["chelsea"]()
    sample = Sample(Picture.from_rgb(_noise(rgb, 3)), origin=Picture.from_rgb(rgb))
    before = evaluator.evaluate([sample])
    for offset in range(20):
        piece = Picture.from_rgb(rgb[offset : offset + 64, :64])
        evaluator.evaluate([Sample(piece, origin=piece)])
    assert evaluator.evaluate([sample]) == before


def test_another_size_is_brought_to_one_scale_and_said(photograph: Rgb) -> None:
    height, width = (side // 2 for side in photograph.shape[:2])
    photograph = photograph[: 2 * height, : 2 * width]
    small = _resized(photograph, width, height)
    for reference, candidate, which in ((photograph, small, "reference"), (small, photograph, "candidate")):
        result = _scored(reference, candidate)
        assert result.value < 0.5
        assert result.flags == (f"{which}_resized:0.500",)
    assert _scored(photograph, _noise(small, 12)).value > 1
    slightly = _scored(photograph, _resized(photograph, round(2 * width * 0.95), round(2 * height * 0.95)))
    assert slightly.value < 0.5
    assert slightly.flags[0].startswith("reference_resized:0.9")
    assert _scored(photograph, photograph[2:, 3:]).flags == ()


@settings(deadline=None, max_examples=10)
@given(st.integers(64, 260), st.integers(64, 260), st.integers(64, 260), st.integers(64, 260))
def test_any_two_sizes_from_64_pixels_are_answered(
    rows: int, columns: int, other_rows: int, other_columns: int
) -> None:
    rgb = PHOTOGRAPHS["astronaut"]()
    reference, candidate = rgb[:rows, :columns], rgb[:other_rows, :other_columns]
    assert _scored(reference, reference).value == 0
    result = _drift(reference, candidate)
    assert isinstance(result, Score | Unscored)
    assert isinstance(result, Score) or result.why == "too_small"


def test_images_that_are_too_small_or_missing_are_unscored() -> None:
    rgb = PHOTOGRAPHS["astronaut"]()
    for reference, candidate in ((rgb, rgb[:63]), (rgb[:63], rgb), (rgb[:, :70], np.tile(rgb[:64], (1, 9, 1)))):
        result = _drift(reference, candidate)
        assert isinstance(result, Unscored)
        assert result.why == "too_small"
    alone, evaluator = Sample(Picture.from_rgb(rgb)), Drift(DriftConfig(type="drift"))
    for result in (*score(evaluator, [alone]), *evaluator.evaluate([alone])):
        assert isinstance(result, Unscored)
        assert result.why == "no_reference"


def test_the_reference_may_be_the_first_accepted_image() -> None:
    rgb = PHOTOGRAPHS["coffee"]()
    worn = _noise(rgb, 8)
    sample = Sample(Picture.from_rgb(worn), origin=Picture.from_rgb(rgb), first=Picture.from_rgb(worn.copy()))
    since_first = EVALUATORS.build(EVALUATORS.configure({"type": "drift", "reference": "first"}, "test"))
    since_origin = EVALUATORS.build(EVALUATORS.configure("drift", "test"))
    assert since_first.facts.needs == {"candidate", "first"}
    assert since_origin.facts.needs == {"candidate", "origin"}
    (forgiven,), (counted,) = score(since_first, [sample]), score(since_origin, [sample])
    assert isinstance(forgiven, Score)
    assert isinstance(counted, Score)
    assert forgiven.value == 0
    assert counted.value > 1


def test_the_previous_image_is_no_reference() -> None:
    with pytest.raises(ConfigError, match="reference"):
        EVALUATORS.configure({"type": "drift", "reference": "previous"}, "test")


@pytest.mark.slow
@pytest.mark.parametrize("editor", [{"type": "span"}, {"type": "style"}], ids=lambda raw: str(raw["type"]))
def test_drift_grows_along_a_chain_of_a_real_network(editor: dict[str, str]) -> None:
    network = EDITORS.build(EDITORS.configure(editor, "editor"))
    images = [Picture.from_rgb(PHOTOGRAPHS["astronaut"]()[:256, 100:356])]
    for turn in range(1, 9):
        edited = network.edit(EditRequest((images[-1],), "Produce an exact replica.", turn, 1, seed=turn))
        assert isinstance(edited, Edited)
        images.append(Picture.from_bytes(edited.data))
    evaluator = Drift(DriftConfig(type="drift"))
    scores = score(evaluator, [Sample(images[turn], origin=images[0]) for turn in (0, 1, 2, 4, 8)])
    values = [result.value for result in scores if isinstance(result, Score)]
    assert len(values) == len(scores)
    assert values == sorted(set(values))
    assert values[-1] > 2
