"""What a composite takes of a candidate and what it leaves: exact pixels, soft borders, specks, other resolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.agent.rejection import Masking
from turngate.graphs.config import OriginConfig
from turngate.graphs.masked_accept import compose, mismatch
from turngate.graphs.origin import load_origin
from turngate.picture import Picture

pixels = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, 256, (40, 56, 3)).astype(np.uint8)
)
masking = st.builds(
    Masking,
    threshold=st.floats(1, 60),
    smooth=st.floats(0, 4),
    clean=st.integers(0, 3),
    feather=st.floats(0, 5) | st.just(0.0),
)


@given(pixels, pixels, masking)
@settings(max_examples=60, deadline=None)
def test_a_composite_lies_between_its_two_images(base: Any, candidate: Any, how: Masking) -> None:
    made = compose(Picture.from_rgb(base), Picture.from_rgb(candidate), how)
    assert 0 <= made.changed <= 1
    assert (made.picture is None) == (made.changed == 0)
    if made.picture is not None:
        low, high = np.minimum(base, candidate), np.maximum(base, candidate)
        assert ((low <= made.picture.rgb) & (made.picture.rgb <= high)).all()
        again = compose(Picture.from_rgb(base), Picture.from_rgb(candidate), how)
        assert again.picture is not None and again.picture.sha256 == made.picture.sha256


@given(st.integers(0, 100), st.integers(0, 100), st.integers(8, 40), st.floats(0, 4))
@settings(max_examples=40, deadline=None)
def test_pixels_are_copied_or_kept_exactly(top: int, left: int, side: int, feather: float) -> None:
    """Inside a change every pixel is the candidate's, further than 6 feathers and a bit from it the base's."""
    base = load_origin(OriginConfig.model_validate({"image": "skimage:astronaut", "size": 128})).rgb
    candidate = base.copy()
    candidate[top : top + side, left : left + side] = 255 - base[top : top + side, left : left + side] // 4
    made = compose(Picture.from_rgb(base), Picture.from_rgb(candidate), Masking(smooth=0, clean=0, feather=feather))
    changed = np.abs(candidate.astype(int) - base).max(axis=2) >= 16
    assert made.picture is not None
    assert made.changed == pytest.approx(changed.mean())
    assert np.array_equal(made.picture.rgb[changed], candidate[changed])
    reach = int(np.ceil(6 * feather)) + 1
    near = np.zeros_like(changed)
    near[max(top - reach, 0) : top + side + reach, max(left - reach, 0) : left + side + reach] = True
    assert np.array_equal(made.picture.rgb[~near], base[~near])


def test_specks_are_dropped_and_gaps_are_filled() -> None:
    base = np.full((60, 60, 3), 100, dtype=np.uint8)
    candidate = base.copy()
    candidate[5:7, 5:7] = 200  # a speck
    candidate[20:50, 20:50] = 200
    candidate[30:32, 30:32] = 100  # a gap in a real change
    made = compose(Picture.from_rgb(base), Picture.from_rgb(candidate), Masking(smooth=0, clean=3, feather=0))
    assert made.picture is not None
    assert (made.picture.rgb[5:7, 5:7] == 100).all()
    assert made.changed == pytest.approx(30 * 30 / 60**2, abs=0.01)


def test_a_thin_change_at_the_edge_is_no_speck() -> None:
    base = np.full((60, 60, 3), 100, dtype=np.uint8)
    candidate = base.copy()
    candidate[:2] = 200
    made = compose(Picture.from_rgb(base), Picture.from_rgb(candidate), Masking(smooth=0, clean=3, feather=0))
    assert made.picture is not None
    assert np.array_equal(made.picture.rgb, candidate)


def test_another_resolution_is_resampled() -> None:
    base = np.full((60, 90, 3), 100, dtype=np.uint8)
    candidate = np.full((120, 180, 3), 100, dtype=np.uint8)
    candidate[40:80, 60:120] = 220
    made = compose(Picture.from_rgb(base), Picture.from_rgb(candidate), Masking())
    assert made.picture is not None
    assert made.picture.rgb.shape == base.shape
    assert (made.picture.rgb[25:35, 35:55] == 220).all() and (made.picture.rgb[:2] == 100).all()


def test_what_fits() -> None:
    assert mismatch((1024, 768), (2048, 1536)) is None
    assert mismatch((1000, 1000), (1009, 1000)) is None
    assert "another aspect ratio" in (mismatch((1024, 768), (1024, 1024)) or "")
    square, wide = (Picture.from_rgb(np.zeros((8, width, 3), dtype=np.uint8)) for width in (8, 16))
    with pytest.raises(ValueError, match="another aspect ratio"):
        compose(square, wide, Masking())
