"""Conformance of evaluators."""

from __future__ import annotations

import math

import numpy as np

from turngate.evaluators import Evaluator, Facts, Failed, Result, Sample, Score
from turngate.evaluators.scoring import score
from turngate.picture import Picture

__all__ = ["check_evaluator"]


def check_evaluator(evaluator: Evaluator, pictures: list[Picture] | None = None) -> None:
    """Raise `AssertionError` when an evaluator breaks its contract.

    Facts must be whole; results finite, in range and one per sample; a sample alone, again and inside a batch of eight
    must score the same within `facts.tolerance` unless the facts say otherwise; flat, tiny and odd images must give
    typed results and not break it. `pictures` (at least two, default: synthetic texture of 192 x 224 pixels) are
    scored with the first as origin.
    """
    facts = evaluator.facts
    _check_facts(facts)
    pictures = pictures or [_texture(noise, 192, 224) for noise in (0, 4, 12, 25)]
    samples = [_sample(picture, pictures[0]) for picture in pictures]
    alone = [score(evaluator, [sample])[0] for sample in samples]
    for result in alone:
        assert not (isinstance(result, Failed) and result.fault == "us"), f"broke on an ordinary image: {result}"
    scored = any(isinstance(result, Score) for result in alone)
    assert scored, f"scored none of {len(alone)} ordinary images: {alone[0]}"
    if facts.deterministic:
        again = [score(evaluator, [sample])[0] for sample in samples]
        _same(alone, again, facts.tolerance, "the same sample scored again")
    if facts.deterministic and facts.batch_invariant:
        batch = (samples * 8)[:8]
        _same((alone * 8)[:8], score(evaluator, batch), facts.tolerance, "a sample inside a batch of eight")
    for odd in (_flat(0), _flat(255), _flat(128), _texture(5, 3, 3), _texture(5, 97, 131), _texture(5, 1, 400)):
        result = score(evaluator, [_sample(odd, odd)])[0]
        assert not (isinstance(result, Failed) and result.fault == "us"), (
            f"broke on {odd.width} x {odd.height} pixels, levels {odd.rgb.min()} to {odd.rgb.max()}: {result}"
        )
    if facts.needs - {"candidate"}:
        bare = score(evaluator, [Sample(pictures[0])])[0]
        assert not isinstance(bare, Score), "scored a sample that lacks what the facts say is needed"


def _check_facts(facts: Facts) -> None:
    assert facts.name and facts.version, "facts need a name and a version"
    assert facts.direction in ("higher", "lower"), "direction must be `higher` or `lower`"
    low, high = facts.range
    assert low < high, "range must go from low to high"
    assert "candidate" in facts.needs, "an evaluator needs at least the candidate"
    assert facts.tolerance >= 0 and math.isfinite(facts.tolerance), "tolerance must be a finite number, 0 or more"
    assert facts.min_size >= 1, "min_size must be at least 1 pixel"


def _same(first: list[Result], second: list[Result], tolerance: float, what: str) -> None:
    for one, other in zip(first, second, strict=True):
        if isinstance(one, Score) and isinstance(other, Score):
            assert abs(one.value - other.value) <= tolerance, f"{what}: {other.value} instead of {one.value}"
        else:
            assert type(one) is type(other), f"{what}: {other} instead of {one}"


def _sample(candidate: Picture, origin: Picture) -> Sample:
    return Sample(candidate, origin, origin, origin, (origin,), "Produce an exact replica of the provided image.")


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
