"""A truth that rests on a registration which may be wrong says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter
from skimage import data
from tests.pages.page import Page

from turngate import RunView, parse_config, start_run
from turngate.pages.report.run import write_run_report
from turngate.traces.analysis.run import truth_doubts

Rgb = NDArray[np.uint8]


def photograph(name: str) -> Rgb:
    pixels: Rgb = getattr(data, name)()[20:276, 60:360]
    return pixels


def noisy(pixels: Rgb) -> Rgb:
    noise = np.random.default_rng(1).normal(0, 15, pixels.shape)
    return np.clip(np.rint(pixels + noise), 0, 255).astype(np.uint8)


SHARP, OTHER = photograph("coffee"), photograph("chelsea")
SMOOTH = np.rint(gaussian_filter(SHARP.astype(float), (24, 24, 0))).astype(np.uint8)
UNCERTAIN = "Truth of 2 candidates: how they lie on the reference is uncertain by a pixel or more"
UNREGISTERED = "Truth of 2 candidates: it was not found how they lie on the reference"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("origin", "candidates", "told"),
    [
        (SHARP, [noisy(SHARP[9:-4, 3:-8]), noisy(SHARP[6:-3, 9:-3])], None),
        (SMOOTH, [noisy(SMOOTH[9:-4, 3:-8]), noisy(SMOOTH[6:-3, 9:-3])], UNCERTAIN),
        (SHARP, [OTHER, OTHER[1:]], UNREGISTERED),
    ],
)
def test_what_the_truth_rests_on(tmp_path: Path, origin: Rgb, candidates: list[Rgb], told: str | None) -> None:
    Image.fromarray(origin).save(tmp_path / "origin.png")
    (tmp_path / "images").mkdir()
    for turn, candidate in enumerate(candidates, 1):
        Image.fromarray(candidate).save(tmp_path / "images" / f"{turn}.png")
    raw = {
        "origin": str(tmp_path / "origin.png"), "scenario": "replicate", "turns": 2, "evaluators": [],
        "editor": {"type": "replay", "source": str(tmp_path / "images")}, "gate": "always_accept",
        "truth": {"measure": {"type": "psnr", "align": "crop"}, "damaged_at": 20},
    }  # fmt: skip
    start_run(parse_config(raw, "test"), tmp_path / "run")
    doubts = truth_doubts([RunView.load(tmp_path / "run")])
    assert len(doubts) == (told is not None)
    assert told is None or doubts[0].startswith(told)
    words = Page(write_run_report(tmp_path / "run")).words()
    assert (told is None) == ("Truth of " not in words)
    assert told is None or doubts[0] in words
