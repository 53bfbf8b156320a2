"""`drift`: its contract, its value, and what it is measured against."""

from __future__ import annotations

import numpy as np
import pytest

from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS, EvalInput, Score, Unscored
from turngate.evaluators.drift import ALARM, UNITS, Drift, DriftConfig, combine
from turngate.evaluators.scoring import score
from turngate.picture import Picture

from ._images import PHOTOGRAPHS, drift_of, jpeg, noisy, scored


def test_the_value_is_the_documented_norm() -> None:
    assert set(UNITS) == set(ALARM)
    assert combine(ALARM) == pytest.approx(len(ALARM) ** (1 / 3))
    for name, level in ALARM.items():
        alone = dict.fromkeys(ALARM, 0.0) | {name: level}
        assert combine(alone) == pytest.approx(1)
    rgb = PHOTOGRAPHS["coffee"]()
    result = scored(rgb, noisy(rgb, 4))
    assert result.value == pytest.approx(sum((result.components[n] / ALARM[n]) ** 3 for n in ALARM) ** (1 / 3))


def test_a_flat_reference_is_unscored_and_a_flattened_candidate_isdrift_of() -> None:
    flat = np.full((128, 128, 3), 90, dtype=np.uint8)
    result = drift_of(flat, noisy(flat, 5))
    assert isinstance(result, Unscored)
    assert result.why == "flat"
    assert scored(PHOTOGRAPHS["coffee"](), np.full((400, 600, 3), 90, dtype=np.uint8)).value > 2


def test_batches_orders_and_repeats_do_not_change_a_bit() -> None:
    rgb = PHOTOGRAPHS["chelsea"]()
    origin, other = Picture.from_rgb(rgb), Picture.from_rgb(PHOTOGRAPHS["coffee"]())
    samples = [EvalInput(Picture.from_rgb(noisy(rgb, level)), origin=origin) for level in (1, 3, 9)]
    samples.insert(1, EvalInput(Picture.from_rgb(jpeg(PHOTOGRAPHS["coffee"](), 50)), origin=other))
    evaluator = Drift(DriftConfig(type="drift"))
    together = evaluator.evaluate(samples)
    assert together == [evaluator.evaluate([sample])[0] for sample in samples]
    assert together == Drift(DriftConfig(type="drift")).evaluate(samples[::-1])[::-1]


def test_forgotten_references_are_measured_again() -> None:
    evaluator = Drift(DriftConfig(type="drift"))
    rgb = PHOTOGRAPHS["chelsea"]()
    sample = EvalInput(Picture.from_rgb(noisy(rgb, 3)), origin=Picture.from_rgb(rgb))
    before = evaluator.evaluate([sample])
    for offset in range(20):
        piece = Picture.from_rgb(rgb[offset : offset + 64, :64])
        evaluator.evaluate([EvalInput(piece, origin=piece)])
    assert evaluator.evaluate([sample]) == before


def test_the_reference_may_be_the_first_accepted_image() -> None:
    rgb = PHOTOGRAPHS["coffee"]()
    worn = noisy(rgb, 8)
    sample = EvalInput(Picture.from_rgb(worn), origin=Picture.from_rgb(rgb), first=Picture.from_rgb(worn.copy()))
    since_first = EVALUATORS.build(EVALUATORS.configure({"type": "drift", "reference": "first"}, "test"))
    since_origin = EVALUATORS.build(EVALUATORS.configure("drift", "test"))
    assert since_first.facts.inputs == {"candidate", "first"}
    assert since_origin.facts.inputs == {"candidate", "origin"}
    (forgiven,), (counted,) = score(since_first, [sample]), score(since_origin, [sample])
    assert isinstance(forgiven, Score)
    assert isinstance(counted, Score)
    assert forgiven.value == 0
    assert counted.value > 1


def test_the_previous_image_is_no_reference() -> None:
    with pytest.raises(ConfigError, match="reference"):
        EVALUATORS.configure({"type": "drift", "reference": "previous"}, "test")
