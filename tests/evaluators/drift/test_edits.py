"""`drift` does not count what an edit may do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from turngate.evaluators.drift import ALARM

from ._images import PHOTOGRAPHS, Rgb, jpeg, noisy, object_added, resized, rounded, scored

CLEAN: dict[str, Callable[[Rgb], Rgb]] = {
    "cropped by 3 %": lambda rgb: rgb[: -(rgb.shape[0] * 3 // 100), rgb.shape[1] * 3 // 100 :],
    "cropped and enlarged back": lambda rgb: resized(
        rgb[rgb.shape[0] * 3 // 100 :, : -(rgb.shape[1] * 3 // 100)], rgb.shape[1], rgb.shape[0]
    ),
    "shifted by 10 pixels": lambda rgb: np.pad(rgb, ((10, 0), (0, 10), (0, 0)), mode="edge")[:-10, 10:],
    "7 % smaller": lambda rgb: resized(rgb, rgb.shape[1] * 93 // 100, rgb.shape[0] * 93 // 100),
    "JPEG q 90": lambda rgb: jpeg(rgb, 90),
    "JPEG q 100": lambda rgb: jpeg(rgb, 100),
    "10 % brighter": lambda rgb: rounded(rgb * 1.1),
    "10 % darker": lambda rgb: rounded(rgb * 0.9),
    "25 levels darker": lambda rgb: rounded(rgb - 25.0),
    "object added": object_added,
    "all at once": lambda rgb: jpeg(rounded(object_added(rgb)[9:, 5:] * 0.95), 90),
}


def test_an_exact_replica_has_nodrift_of(photograph: Rgb) -> None:
    result = scored(photograph, photograph.copy())
    assert result.value == 0
    assert result.label == "steady"
    assert set(result.components) == set(ALARM)
    assert not any(result.components.values())


@pytest.mark.slow
@pytest.mark.parametrize("edit", CLEAN)
def test_a_clean_edit_stays_well_below_the_alarm(photograph: Rgb, edit: str) -> None:
    assert scored(photograph, CLEAN[edit](photograph)).value < 0.7


def test_damage_in_one_place_is_an_edit_and_everywhere_isdrift_of(photograph: Rgb) -> None:
    noise = noisy(photograph, 20)
    local = photograph.copy()
    corner = tuple(slice(0, side // 3) for side in photograph.shape[:2])
    local[corner] = noise[corner]
    assert scored(photograph, local).value < 0.7
    assert scored(photograph, noise).value > 2


@pytest.mark.slow
def test_an_added_object_is_masked_and_hides_no_wear(photograph: Rgb) -> None:
    added = object_added(photograph)
    clean, worn, alone = (scored(photograph, candidate) for candidate in (added, noisy(added, 5), noisy(photograph, 5)))
    assert clean.value < 0.2
    (flag,) = clean.flags
    assert 0.08 < float(flag.removeprefix("edited:")) < 0.4
    assert worn.value == pytest.approx(alone.value, rel=0.15)


def test_where_everything_changes_nothing_counts_as_edited() -> None:
    coffee, cat = PHOTOGRAPHS["coffee"]()[:300, :451], PHOTOGRAPHS["chelsea"]()
    result = scored(coffee, cat)
    assert result.value > 2
    assert "unregistered" in result.flags
    assert scored(coffee, rounded(255.0 - coffee)).value > 2
