"""The difference of two images: aligned where a measure of the run registered them, and said so in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.pages.page import Page
from tests.traces.runs import Pixels, photograph

from turngate import parse_config, start_run
from turngate.pages.report.run import write_run_report

from ._rescored import score

SIZE = 256


def moved(pixels: Pixels, right: int, down: int) -> Pixels:
    """As by an editor that shifts the picture; the edge is repeated."""
    padded = np.pad(pixels, ((abs(down), abs(down)), (abs(right), abs(right)), (0, 0)), mode="edge")
    top, left = abs(down) - down, abs(right) - right
    return padded[top : top + pixels.shape[0], left : left + pixels.shape[1]]


def cropped(pixels: Pixels, share: float) -> Pixels:
    """Without `share` of each side, enlarged back."""
    height, width = pixels.shape[:2]
    box = (share * width, share * height, (1 - share) * width, (1 - share) * height)
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.LANCZOS, box=box))


def replayed(folder: Path, images: list[Pixels], **more: Any) -> Path:
    """A run whose editor made these images of the photograph."""
    (folder / "chain").mkdir(parents=True)
    Image.fromarray(photograph(SIZE)).save(folder / "origin.png")
    for turn, pixels in enumerate(images, 1):
        Image.fromarray(pixels).save(folder / "chain" / f"{turn}.png")
    config = {
        "origin": str(folder / "origin.png"), "scenario": "replicate", "turns": len(images), "evaluators": [],
        "editor": {"type": "replay", "source": str(folder / "chain")}, "gate": "always_accept", **more,
    }  # fmt: skip
    start_run(parse_config(config, "test"), folder / "run")
    return folder / "run"


def frames(page: Page) -> list[Any]:
    return [stop.get("frame") for stop in page.data("stops")]


def test_without_a_registration_pixels_are_compared_as_they_are(tmp_path: Path) -> None:
    page = Page(write_run_report(replayed(tmp_path, [moved(photograph(SIZE), 5, 3)])))
    assert frames(page) == [{"scale": [1.0, 1.0], "offset": [0.0, 0.0]}, None]
    assert "aligned" not in [attrs.get("id") for _, attrs in page.elements]


def test_the_shift_that_the_truth_found_is_undone(tmp_path: Path) -> None:
    images = [moved(photograph(SIZE), 5, -3), photograph(SIZE)]
    truth = {"measure": {"type": "psnr", "align": "shift"}, "damaged_at": 20}
    page = Page(write_run_report(replayed(tmp_path, images, truth=truth)))
    _, shifted, same = frames(page)
    assert shifted["scale"] == [1.0, 1.0]
    assert shifted["offset"] == pytest.approx([5 / SIZE, -3 / SIZE], abs=0.1 / SIZE)
    assert same["offset"] == [0.0, 0.0]
    how = next(attrs for _, attrs in page.elements if attrs.get("id") == "how")
    assert "laid on the origin, registered by the truth, psnr with align shift." in str(how["data-aligned"])


def test_a_crop_that_an_evaluator_found_goes_before_a_shift_that_the_truth_found(tmp_path: Path) -> None:
    truth = {"measure": {"type": "psnr", "align": "shift"}, "damaged_at": 20}
    evaluators = {
        "whole": {"type": "ssim", "align": "crop"},
        "step": {"type": "ssim", "align": "crop", "against": "previous"},
    }
    run = replayed(tmp_path, [cropped(photograph(SIZE), 0.03)], truth=truth, evaluators=evaluators)
    page = Page(write_run_report(run))
    frame = frames(page)[1]
    # What was at 3 % and 97 % of the origin is at 0 and 100 % of the candidate.
    for scale, offset in zip(frame["scale"], frame["offset"], strict=True):
        assert scale * 0.03 + offset == pytest.approx(0, abs=0.004)
        assert scale * 0.97 + offset == pytest.approx(1, abs=0.004)
    assert "registered by whole with align crop" in str(
        [attrs for _, attrs in page.elements if attrs.get("id") == "how"]
    )


def test_scores_that_were_made_afterwards_register_too(tmp_path: Path) -> None:
    run = replayed(tmp_path, [moved(photograph(SIZE), -4, 0)])
    score(run, {"type": "geometry", "align": "full"})
    page = Page(write_run_report(run))
    assert frames(page)[1]["offset"] == pytest.approx([-4 / SIZE, 0], abs=0.5 / SIZE)
    assert "registered by geometry (scored afterwards) with align full" in str([attrs for _, attrs in page.elements])


@pytest.mark.slow
def test_mirrored_and_unrecognised_candidates_are_not_laid_anywhere(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (SIZE, SIZE, 3), dtype=np.uint8)
    images = [photograph(SIZE)[:, ::-1], noise, photograph(SIZE)]
    run = replayed(tmp_path, images, evaluators={"full": {"type": "geometry", "align": "full"}})
    assert [frame is not None for frame in frames(Page(write_run_report(run)))] == [True, False, False, True]
