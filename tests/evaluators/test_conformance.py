"""Every built-in evaluator keeps the contract, and the kit notices those that do not."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from turngate.evaluators import EVALUATORS, EvalInput, Evaluator, Score, Unscored
from turngate.picture import Picture
from turngate.testing import check_evaluator

from ._broken import Broken
from .warps import photograph, worse_and_worse

HERE: dict[str, list[Any]] = {
    "brisque": ["brisque"],
    "niqe": ["niqe"],
    "piqe": ["piqe"],
    "psnr": ["psnr", {"type": "psnr", "align": "shift"}],
    "ssim": ["ssim", {"type": "ssim", "align": "shift", "against": "previous"}],
    "ms_ssim": ["ms_ssim"],
    "ciede2000": ["ciede2000"],
    "geometry": ["geometry", {"type": "geometry", "align": "crop", "against": "previous"}],
    "drift": ["drift", {"type": "drift", "reference": "first"}],
    "drift_chain": ["drift_chain"],
    "control_regions": [
        {"type": "control_regions", "regions": [[0, 0, 0.5, 0.5], [0.6, 0.6, 1, 1]], "align": "shift"},
    ],
    "ensemble": [{"type": "ensemble", "rule": "mean", "scale": "range", "members": {"a": "niqe", "b": "psnr"}}],
    "outside_edit": ["outside_edit", {"type": "outside_edit", "align": "shift", "margin": 0.02}],
    "scripted": ["scripted"],
}
"""Type -> settings."""
ELSEWHERE = {
    "external": "external/test_external.py",
    "gemini_judge": "judges/test_remote.py",
    "openai_judge": "judges/test_remote.py",
    "pyiqa:": "pyiqa/test_metric.py",
    "transformers_judge": "judges/test_transformers.py",
    "visualquality_r1": "judges/test_visualquality_r1.py",
}
"""Type -> the file that runs the kit on it: they need a program, a server, a model or pyiqa."""


def build(raw: Any) -> Evaluator:
    return EVALUATORS.build(EVALUATORS.configure(raw, "evaluators.x"))


@pytest.mark.slow
@pytest.mark.parametrize("raw", list(itertools.chain(*HERE.values())), ids=str)
def test_built_in(raw: Any) -> None:
    check_evaluator(build(raw))


def test_none_is_left_out() -> None:
    """A new evaluator fails here until the kit is run on it."""
    assert set(EVALUATORS.builtin) == HERE.keys() | ELSEWHERE.keys()
    for name in set(ELSEWHERE.values()):
        assert "check_evaluator(" in (Path(__file__).parent / name).read_text(encoding="utf-8"), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw",
    [
        "brisque", "niqe", "piqe", "psnr", "ssim", "ms_ssim", "ciede2000", "drift",
        {"type": "drift", "reference": "first"}, {"type": "psnr", "align": "crop", "against": "previous"},
        {"type": "ensemble", "rule": "mean", "scale": "range", "members": {"a": "niqe", "b": "psnr"}},
        {"type": "ensemble", "rule": "min", "members": {"a": "niqe", "b": "brisque"}},
    ],
    ids=str,
)  # fmt: skip
def test_direction_is_as_stated(raw: Any) -> None:
    check_evaluator(build(raw), worse_and_worse(), ranked=True)


@pytest.mark.slow
def test_direction_of_geometry() -> None:
    """It sees crops, not wear."""
    rgb = photograph("coffee")
    cuts = [Image.fromarray(rgb[cut:, cut:]).resize((600, 400), Image.Resampling.LANCZOS) for cut in (0, 6, 12)]
    check_evaluator(build("geometry"), [Picture.from_rgb(np.asarray(cut)) for cut in cuts], ranked=True)


COUNT = itertools.count()


def _written_on(sample: EvalInput) -> Score:
    pixels = sample.candidate.rgb
    pixels.setflags(write=True)
    pixels[0, 0] = 255 - pixels[0, 0]
    pixels.setflags(write=False)
    return Score(0.5)


def _difference(sample: EvalInput) -> float:
    assert sample.origin is not None
    return float(np.abs(sample.candidate.rgb.astype(float) - sample.origin.rgb).mean() / 255)


ORIGIN = {"inputs": frozenset({"candidate", "origin"})}


@pytest.mark.parametrize(
    ("answer", "facts", "rule"),
    [
        (lambda batch: [Score(2.0) for _ in batch], {}, "ordinary image"),
        (lambda batch: [Score(float("nan")) for _ in batch], {}, "ordinary image.*finite"),
        (lambda batch: [Score(float("inf")) for _ in batch], {"range": (0.0, float("inf"))}, "ordinary image.*finite"),
        (lambda batch: [Score(True) for _ in batch], {}, "ordinary image.*truth value"),
        (lambda batch: [int("no number") for _ in batch], {}, "ordinary image.*ValueError"),
        (lambda batch: [Score(0.5)] * (len(batch) - 1), {}, "ordinary image.*result_count"),
        (lambda batch: [Score(0.5)] * (len(batch) + 1), {}, "ordinary image.*result_count"),
        (lambda batch: None, {}, "ordinary image"),
        (lambda batch: ["0.5" for _ in batch], {}, "ordinary image.*result_type"),
        (lambda batch: [0.5 for _ in batch], {}, "ordinary image.*result_type"),
        (lambda batch: [Unscored("parse") for _ in batch], {}, "scored none"),
        (lambda batch: [Score(next(COUNT) % 7 / 7) for _ in batch], {"batch_invariant": False}, "scored again"),
        (lambda batch: [Score(1 / len(batch)) for _ in batch], {}, "batch of eight"),
        (lambda batch: [Score(float(1 / np.ptp(s.candidate.rgb))) for s in batch], {}, "broke on 160 x 160"),
        (lambda batch: [Score(_difference(s)) for s in batch], ORIGIN, "broke on .*ValueError"),
        (lambda batch: [Score(len(s.instruction or "") / 100) for s in batch], {}, "nothing but what `inputs` lists"),
        (lambda batch: [Score(float(s.origin is not None)) for s in batch], {}, "nothing but what `inputs` lists"),
        (lambda batch: [_written_on(s) for s in batch], {}, "changed the pixels"),
        (lambda batch: [Score(0.5) for _ in batch], {"range": (1.0, 0.0)}, "low to high"),
        (lambda batch: [Score(0.5) for _ in batch], {"tolerance": float("nan")}, "tolerance"),
        (lambda batch: [Score(0.5) for _ in batch], {"inputs": frozenset({"origin"})}, "at least the candidate"),
        (lambda batch: [Score(0.5) for _ in batch], {"version": ""}, "name and a version"),
    ],
)  # fmt: skip
def test_the_kit_notices(answer: Any, facts: dict[str, Any], rule: str) -> None:
    with pytest.raises(AssertionError, match=rule):
        check_evaluator(Broken(answer, **facts))


@pytest.mark.parametrize(("direction", "wrong"), [("higher", True), ("lower", False)])
def test_the_kit_notices_a_wrong_direction(direction: str, wrong: bool) -> None:
    """A difference that is called a likeness."""

    def answer(batch: Any) -> list[Any]:
        same = [s.origin.rgb.shape == s.candidate.rgb.shape for s in batch]
        return [Score(_difference(s)) if fits else Unscored("too_small") for s, fits in zip(batch, same, strict=True)]

    evaluator = Broken(answer, direction=direction, **ORIGIN)
    check_evaluator(evaluator)
    if not wrong:
        check_evaluator(evaluator, ranked=True)
        return
    with pytest.raises(AssertionError, match="higher is better, but the best picture scored 0"):
        check_evaluator(evaluator, ranked=True)
