"""Conformance of evaluators."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from turngate.evaluators import EvalInput, Evaluator, Facts, Failed, Result, Score
from turngate.evaluators.scoring import score
from turngate.picture import Picture

__all__ = ["check_evaluator"]


def check_evaluator(evaluator: Evaluator, pictures: list[Picture] | None = None, ranked: bool = False) -> None:
    """Raise `AssertionError` when an evaluator breaks its contract.

    Facts must be whole; results finite, in range and one per sample; a sample alone, again, in another order and inside
    a batch of eight must score the same within `facts.tolerance` unless the facts say otherwise, and so must one that
    holds nothing but what `facts.inputs` lists (the score cache goes by that list); flat, tiny and odd images and
    references of another size must give typed results and not break it; the pictures must be left alone. `pictures` (at
    least two, default: synthetic texture of 192 x 224 pixels, with more and more noise) are scored with the first as
    origin. With `ranked` they go from the best to the worst one: then the first must score better than the last.
    """
    facts = evaluator.facts
    _check_facts(facts)
    pictures = pictures or [_texture(noise, 192, 224) for noise in (0, 4, 12, 25)]
    pixels = [picture.rgb.copy() for picture in pictures]
    samples = [_sample(picture, pictures[0]) for picture in pictures]
    alone = [score(evaluator, [sample])[0] for sample in samples]
    for result in alone:
        assert not _is_broken(result), f"broke on an ordinary image: {result}"
    scored = any(isinstance(result, Score) for result in alone)
    assert scored, f"scored none of {len(alone)} ordinary images: {alone[0]}"
    if ranked:
        _check_direction(facts, alone[0], alone[-1])
    if facts.deterministic and facts.batch_invariant:
        batch = (samples * 8)[:8]
        _same((alone * 8)[:8], score(evaluator, batch), facts.tolerance, "a sample inside a batch of eight")
    _check_odd_images(evaluator, facts, pictures[0])
    if facts.deterministic:
        again = [score(evaluator, [sample])[0] for sample in samples[::-1]][::-1]
        _same(alone, again, facts.tolerance, "the same sample scored again")
        needed = [score(evaluator, [_only(facts, sample)])[0] for sample in samples]
        _same(alone, needed, facts.tolerance, "a sample that holds nothing but what `inputs` lists")
    if facts.inputs - {"candidate"}:
        bare = score(evaluator, [EvalInput(pictures[0])])[0]
        assert not isinstance(bare, Score), "scored a sample that lacks what the facts say is needed"
    for picture, before in zip(pictures, pixels, strict=True):
        assert np.array_equal(picture.rgb, before), "changed the pixels of a picture in place"


def _check_facts(facts: Facts) -> None:
    assert facts.name and facts.version, "facts need a name and a version"
    assert facts.direction in ("higher", "lower"), "direction must be `higher` or `lower`"
    low, high = facts.range
    assert low < high, "range must go from low to high"
    assert "candidate" in facts.inputs, "an evaluator needs at least the candidate"
    assert facts.tolerance >= 0 and math.isfinite(facts.tolerance), "tolerance must be a finite number, 0 or more"
    assert facts.min_size >= 1, "min_size must be at least 1 pixel"


def _check_direction(facts: Facts, best: Result, worst: Result) -> None:
    assert isinstance(best, Score) and isinstance(worst, Score), f"no score for the best or the worst: {best}, {worst}"
    sign = 1 if facts.direction == "higher" else -1
    message = f"{facts.direction} is better, but the best picture scored {best.value} and the worst {worst.value}"
    assert sign * best.value > sign * worst.value, message


def _check_odd_images(evaluator: Evaluator, facts: Facts, origin: Picture) -> None:
    odd = [_flat(0), _flat(255), _flat(128), _texture(5, 3, 3), _texture(5, 97, 131), _texture(5, 1, 400)]
    pairs = [(picture, other) for picture in odd for other in (picture, origin)] + [(origin, each) for each in odd]
    for candidate, reference in pairs if facts.inputs - {"candidate", "instruction"} else zip(odd, odd, strict=True):
        result = score(evaluator, [_sample(candidate, reference)])[0]
        message = f"broke on {_described(candidate)} with references of {_described(reference)}: {result}"
        assert not _is_broken(result), message


def _described(picture: Picture) -> str:
    return f"{picture.width} x {picture.height} pixels, levels {picture.rgb.min()} to {picture.rgb.max()}"


def _is_broken(result: Result) -> bool:
    return isinstance(result, Failed) and result.fault == "us"


def _same(first: list[Result], second: list[Result], tolerance: float, what: str) -> None:
    for one, other in zip(first, second, strict=True):
        if isinstance(one, Score) and isinstance(other, Score):
            assert abs(one.value - other.value) <= tolerance, f"{what}: {other.value} instead of {one.value}"
        else:
            assert type(one) is type(other), f"{what}: {other} instead of {one}"


def _sample(candidate: Picture, origin: Picture) -> EvalInput:
    words = "Produce an exact replica of the provided image."
    return EvalInput(candidate, origin, origin, origin, (origin,), words, ((0.25, 0.25, 0.75, 0.75),))


def _only(facts: Facts, sample: EvalInput) -> EvalInput:
    optional = {"origin": None, "first": None, "previous": None, "history": (), "instruction": None, "edit_boxes": None}
    left_out: dict[str, Any] = {role: nothing for role, nothing in optional.items() if role not in facts.inputs}
    return replace(sample, **left_out)


def _texture(noise: float, height: int, width: int) -> Picture:
    """Smooth structure with some texture, and `noise` levels of noise on top."""
    rng = np.random.default_rng(11)
    coarse = rng.integers(40, 216, (height // 16 + 1, width // 16 + 1, 3))
    structure = np.kron(coarse, np.ones((16, 16, 1)))[:height, :width]
    texture = 6 * rng.standard_normal((height, width, 1))
    grain = noise * np.random.default_rng(12).standard_normal((height, width, 3))
    return Picture.from_rgb(np.clip(structure + texture + grain, 0, 255).astype(np.uint8))


def _flat(level: int) -> Picture:
    return Picture.from_rgb(np.full((160, 160, 3), level, dtype=np.uint8))
