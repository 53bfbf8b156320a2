"""`geometry`: how far the frame has moved."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluators.comparing import result_of, scored
from tests.evaluators.warps import WEAR, cropped, photograph

from turngate.evaluators import Unscored


def test_geometry_is_the_mean_displacement_of_the_corners() -> None:
    origin = photograph("astronaut", 400)
    still = scored("geometry", WEAR["all three"](origin), origin)
    assert (still.value, still.label, still.flags) == (0.0, "same", ())
    centred = scored("geometry", cropped(origin, (4, 4, 396, 396)), origin)
    assert centred.value == pytest.approx(100 * 2 / 98 / 2, abs=0.02), "each corner by 2 / 98 of half the diagonal"
    assert centred.label == "moved"
    assert centred.components["overlap"] == pytest.approx(96.04, abs=0.1)
    shifted = scored("geometry", origin[:-8, 8:], origin[8:, :-8])
    assert shifted.value == pytest.approx(100 * 8 / 392, abs=0.02)


def test_geometry_of_a_mirrored_or_turned_picture() -> None:
    origin = photograph("coffee", 300)
    mirrored = scored("geometry", np.ascontiguousarray(origin[:, ::-1]), origin)
    assert (mirrored.label, mirrored.flags) == ("mirrored", ("mirrored",))
    assert mirrored.value == pytest.approx(100 * 300 / np.hypot(300, 200))
    turned = scored("geometry", np.ascontiguousarray(np.rot90(origin, -1)), origin)
    assert (turned.label, turned.flags) == ("rotated 90", ("rotated:90",))
    assert turned.value == pytest.approx(100 / np.sqrt(2), abs=0.01)
    both = scored("geometry", np.ascontiguousarray(origin[::-1]), origin)
    assert both.label == "mirrored, rotated 180"


def test_geometry_counts_a_stretch() -> None:
    origin = photograph("coffee", 300)
    stretched = scored("geometry", cropped(origin, (0, 0, 300, 200), (390, 200)), origin)
    assert stretched.components["stretch"] == pytest.approx(30, abs=0.5)
    assert stretched.value > 5
    larger = scored("geometry", cropped(origin, (0, 0, 300, 200), (600, 400)), origin)
    assert larger.value == 0, "the same frame at another size"


def test_geometry_that_cannot_be_told_is_unscored() -> None:
    origin, flat = photograph("coffee", 300), np.full((200, 300, 3), 90, dtype=np.uint8)
    for candidate, why in ((flat, "flat"), (photograph("chelsea", 300), "undefined"), (origin[:15], "too_small")):
        result = result_of("geometry", candidate, origin)
        assert isinstance(result, Unscored)
        assert result.why == why
