"""Built-in editors: the contract, what each does over a chain, and that the kit notices broken ones."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from skimage import data

from turngate.agent.editor import Edited, Editor, EditRequest, EditUsage, NoImage
from turngate.agent.editors import EDITORS
from turngate.evaluators import EVALUATORS, EvalInput, Score
from turngate.evaluators.scoring import score
from turngate.picture import Picture
from turngate.testing import check_editor


def build(raw: Any) -> Editor:
    return EDITORS.build(EDITORS.configure(raw, "editor"))


def astronaut(size: int = 512) -> Picture:
    pixels: Any = data.astronaut()  # type: ignore[no-untyped-call]  # scikit-image ships no types
    return Picture.from_rgb(np.ascontiguousarray(pixels[:size, :size]))


def chain(editor: Editor, start: Picture, turns: int) -> list[Picture]:
    pictures = [start]
    for turn in range(1, turns + 1):
        answer = editor.edit(EditRequest((pictures[-1],), "copy", turn, 1, 1000 + turn))
        assert isinstance(answer, Edited)
        pictures.append(Picture.from_bytes(answer.data))
    return pictures


def psnr(picture: Picture, origin: Picture) -> float:
    evaluator = EVALUATORS.build(EVALUATORS.configure({"type": "psnr", "align": "shift"}, "x"))
    result = score(evaluator, [EvalInput(picture, origin=origin)])[0]
    assert isinstance(result, Score)
    return result.value


@pytest.mark.parametrize(
    "raw",
    [
        "scripted",
        {"type": "scripted", "stochastic": False},
        "codec",
        {"type": "codec", "format": "png"},
        {"type": "codec", "format": "webp", "quality": 40},
        {"type": "codec", "resize_jitter": 0.1},
        "simulated",
        {"type": "simulated", "severity": 0},
        "span",
        {"type": "span", "scale": 2},
        {"type": "span", "phase_jitter": False, "dither": 0},
    ],
    ids=str,
)
def test_built_in(raw: Any) -> None:
    check_editor(build(raw))


class Broken:
    """An editor whose behaviour a test chooses."""

    model = "broken"
    simulated = True
    paid = False

    def __init__(self, answer: Any, stochastic: bool) -> None:
        self.answer, self.stochastic = answer, stochastic

    def edit(self, request: EditRequest) -> Edited | NoImage:
        made: Edited | NoImage = self.answer(request)
        return made


def _noisy(request: EditRequest) -> Edited:
    noise = np.random.default_rng(request.seed).integers(0, 9, request.image.rgb.shape)
    return Edited(Picture.from_rgb((request.image.rgb // 2 + noise).astype(np.uint8)).data)


COUNT = itertools.count()


@pytest.mark.parametrize(
    ("answer", "stochastic", "rule"),
    [
        (lambda request: Edited(request.image.data), True, "declared stochastic"),
        (_noisy, False, "declared deterministic"),
        (lambda request: None, False, "must return Edited or NoImage"),
        (lambda request: _noisy(EditRequest((request.image,), "", 1, 1, next(COUNT))), True, "other bytes"),
        (lambda request: Edited(request.image.data, picture=astronaut(64)), False, "not the picture"),
        (lambda request: Edited(request.image.data, usage=EditUsage(cost_usd=0.1)), False, "not declared paid"),
        (lambda request: Edited(b"no image"), False, "does not decode"),
    ],
)  # fmt: skip
def test_the_kit_notices(answer: Any, stochastic: bool, rule: str) -> None:
    with pytest.raises(AssertionError, match=rule):
        check_editor(Broken(answer, stochastic))


@pytest.mark.slow
def test_span_decays_by_itself() -> None:
    """A real network: the picture is plainly worse at turn 5 than at 1, ruined at 10, and BRISQUE does not say so."""
    origin = astronaut()
    pictures = chain(build("span"), origin, 10)
    one, five, ten = (psnr(pictures[turn], origin) for turn in (1, 5, 10))
    assert 26 < one < 30
    assert five < one - 3
    assert ten < 18
    brisque = EVALUATORS.build(EVALUATORS.configure("brisque", "x"))
    results = [score(brisque, [EvalInput(pictures[turn])])[0] for turn in (1, 5)]
    first, later = (result.value for result in results if isinstance(result, Score))
    assert later < first, "lower is better: it prefers turn 5"


def test_span_is_the_same_on_any_number_of_threads() -> None:
    requests = [EditRequest((astronaut(96),), "", 1, 1, 3)]
    answers = [build({"type": "span", "threads": threads}).edit(requests[0]) for threads in (1, 2)]
    assert isinstance(answers[0], Edited) and isinstance(answers[1], Edited)
    assert answers[0].data == answers[1].data


def test_span_does_not_shift_the_image() -> None:
    """The jitter of the sampling grid is undone: after ten turns the picture is where it was."""
    from turngate.evaluators.registration import register

    origin = astronaut(256)
    last = chain(build("span"), origin, 6)[-1]
    assert not [flag for flag in register(last, origin, "shift").flags if "shifted" in flag and "0." not in flag]


def test_the_png_arm_is_exactly_flat() -> None:
    """C54."""
    origin = astronaut(128)
    pictures = chain(build({"type": "codec", "format": "png"}), origin, 20)
    assert all(np.array_equal(picture.rgb, origin.rgb) for picture in pictures)
    assert len({picture.sha256 for picture in pictures[1:]}) == 1


def test_the_jpeg_arm_is_not() -> None:
    origin = astronaut(128)
    assert psnr(chain(build({"type": "codec", "quality": 50}), origin, 3)[-1], origin) < 40


@pytest.mark.parametrize(("kind", "width"), [("webp", 16384), ("jpeg", 65501)])
def test_an_image_that_the_format_cannot_hold(kind: str, width: int) -> None:
    """A typed refusal that no retry can mend, not an exception."""
    wide = Picture.from_rgb(np.zeros((1, width, 3), dtype=np.uint8))
    answer = build({"type": "codec", "format": kind}).edit(EditRequest((wide,), "", 1, 1, 1))
    assert isinstance(answer, NoImage)
    assert (answer.why, answer.retryable) == ("error", False)
    assert "\n" not in answer.detail


def test_simulated_is_marked() -> None:
    assert build("simulated").simulated and build("scripted").simulated
    assert not build("span").simulated and not build("codec").simulated
