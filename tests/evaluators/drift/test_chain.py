"""`drift_chain` adds up what the steps of a chain do, without the origin and without what was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from turngate.evaluators import EVALUATORS, EvalInput, Evaluator, Score, Unscored
from turngate.evaluators.scoring import score
from turngate.picture import Picture
from turngate.testing import check_evaluator

from ._images import PHOTOGRAPHS, Rgb, rounded


@pytest.fixture
def evaluator() -> Evaluator:
    return EVALUATORS.build(EVALUATORS.configure("drift_chain", "test"))


@pytest.fixture
def photograph() -> Rgb:
    return PHOTOGRAPHS["coffee"]()


def _values(evaluator: Evaluator, images: list[Rgb], every: int = 1) -> list[float]:
    """Scores of images from the second on, each with all before it as history; the last is always scored."""
    pictures = [Picture.from_rgb(image) for image in images]
    samples = [EvalInput(pictures[at], history=tuple(pictures[:at])) for at in range(len(pictures) - 1, 0, -every)][
        ::-1
    ]
    results = [result for result in score(evaluator, samples) if isinstance(result, Score)]
    assert len(results) == len(samples)
    return [result.value for result in results]


def _balls(rgb: Rgb, number: int) -> list[Rgb]:
    """A coloured ball more in every image, side by side from the upper left."""
    images, (rows, columns) = [rgb], np.mgrid[: rgb.shape[0], : rgb.shape[1]]
    rng = np.random.default_rng(5)
    for at in range(number):
        y, x = 40 + 80 * (at // 7), 45 + 80 * (at % 7)
        inside = np.hypot(rows - y, columns - x) < 32
        ball = rng.uniform(20, 235, 3) + rng.normal(0, 12, (int(inside.sum()), 3))
        image = images[-1].copy()
        image[inside] = rounded(ball)
        images.append(image)
    return images


def test_the_contract_is_kept(evaluator: Evaluator) -> None:
    check_evaluator(evaluator)
    assert evaluator.facts.inputs == {"candidate", "history"}


@pytest.mark.slow
def test_slow_wear_adds_up(evaluator: Evaluator, photograph: Rgb) -> None:
    rng = np.random.default_rng(3)
    images = [photograph]
    for _ in range(12):
        images.append(rounded(images[-1] + rng.normal(0, 1.2, photograph.shape) + (-0.5, 0.5, -0.5)))
    values = _values(evaluator, images)
    assert values == sorted(set(values))
    assert values[0] < 0.5
    assert values[-1] > 1


@pytest.mark.slow
def test_objects_added_one_by_one_are_no_wear_however_many(evaluator: Evaluator, photograph: Rgb) -> None:
    images = _balls(photograph, 28)
    assert max(_values(evaluator, images, every=9)) < 0.5
    drift = EVALUATORS.build(EVALUATORS.configure("drift", "test"))
    (since_origin,) = score(drift, [EvalInput(Picture.from_rgb(images[-1]), origin=Picture.from_rgb(images[0]))])
    assert isinstance(since_origin, Score)
    assert since_origin.value > 1, "the origin cannot know that they were asked for"


def test_wear_between_objects_is_seen(evaluator: Evaluator, photograph: Rgb) -> None:
    rng = np.random.default_rng(3)
    images = [
        rounded(image + rng.normal(0, 1.5 * turn, image.shape)) for turn, image in enumerate(_balls(photograph, 5))
    ]
    assert _values(evaluator, images)[-1] > 1


@pytest.mark.slow
def test_a_slow_darkening_is_not_forgiven_step_by_step(evaluator: Evaluator, photograph: Rgb) -> None:
    images = [rounded(photograph * 0.95**turn) for turn in range(12)]
    values = _values(evaluator, images)
    assert values[0] < 0.3
    assert values[-1] > 1


def test_a_chain_of_exact_replicas_does_not_drift(evaluator: Evaluator, photograph: Rgb) -> None:
    assert _values(evaluator, [photograph] * 5) == [0.0] * 4


def test_the_origin_and_other_fields_make_no_difference(evaluator: Evaluator, photograph: Rgb) -> None:
    first, then = (
        Picture.from_rgb(photograph),
        Picture.from_rgb(rounded(photograph + 3.0 * np.indices((400, 600))[1][..., None] % 5)),
    )
    bare = EvalInput(then, history=(first,))
    full = EvalInput(then, origin=then, first=then, previous=then, history=(first,), instruction="x")
    assert score(evaluator, [bare]) == score(evaluator, [full])


def test_without_an_accepted_image_or_with_a_tiny_one_there_is_no_score(evaluator: Evaluator, photograph: Rgb) -> None:
    whole, tiny = Picture.from_rgb(photograph), Picture.from_rgb(photograph[:63])
    flat = Picture.from_rgb(np.full((128, 128, 3), 90, dtype=np.uint8))
    for sample, why in (
        (EvalInput(whole), "no_reference"),
        (EvalInput(whole, history=(tiny,)), "too_small"),
        (EvalInput(whole, history=(flat,)), "flat"),
    ):
        for result in (*score(evaluator, [sample]), *evaluator.evaluate([sample])):
            assert isinstance(result, Unscored)
            assert result.why == why
