"""The gates that hold one score against one reference, the controls, and the cases that bite (negative BRISQUE)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ._support import direction, finite, gate, past, reading


@given(finite, finite, direction)
def test_threshold_accepts_exactly_what_is_at_least_as_good(value: float, at: float, which: Any) -> None:
    decision = gate(type="threshold", evaluator="q", at=at).decide(reading(value, which), past())
    good = value >= at if which == "higher" else value <= at
    assert (decision.verdict == "accept") == good


@given(finite, finite, st.floats(0, 1e6), direction)
def test_relative_to_origin_compares_in_better_units(value: float, origin: float, margin: float, which: Any) -> None:
    made = gate(type="relative", evaluator="q", reference="origin", margin=margin)
    decision = made.decide(reading(value, which), past(origin, which=which))
    worse_by = origin - value if which == "higher" else value - origin
    assert (decision.verdict == "accept") == (worse_by <= margin)


@given(st.lists(finite, min_size=1, max_size=6), finite, direction)
def test_references(values: list[float], value: float, which: Any) -> None:
    history = past(values[0], tuple(values[1:]), which)
    expected = {
        "first": values[1] if len(values) > 1 else None,
        "previous": values[-1],
        "origin": values[0],
        "best": max(values) if which == "higher" else min(values),
    }
    for reference, held_against in expected.items():
        decision = gate(type="relative", evaluator="q", reference=reference).decide(reading(value, which), history)
        assert decision.evidence["reference"] == held_against
        assert decision.thresholds == ({} if held_against is None else {"q": held_against})


def test_a_ruined_image_with_a_better_brisque_passes() -> None:
    """The paper's case: 34.1 becomes -9.8, lower is better, and a relative gate sees an improvement (C33)."""
    made = gate(type="relative", evaluator="q", reference="first", margin=0)
    decision = made.decide(reading(-9.8), past(30.0, (34.1,)))
    assert decision.verdict == "accept"
    assert "43.9 better" in decision.reason


def test_first_image_becomes_the_reference() -> None:
    decision = gate(type="relative", evaluator="q", reference="first").decide(reading(99), past(1.0))
    assert decision.verdict == "accept"
    assert (decision.evidence["reference"], decision.thresholds) == (None, {})


@pytest.mark.parametrize(("damaged", "verdict"), [(True, "reject"), (False, "accept"), (None, "reject")])
def test_oracle(damaged: bool | None, verdict: str) -> None:
    assert gate(type="oracle").decide({}, past(damaged=damaged)).verdict == verdict


def test_random_gate_keeps_its_rate_and_its_seed() -> None:
    made = gate(type="random", accept_rate=0.3)
    verdicts = [made.decide({}, past(seed=seed)).verdict for seed in range(4000)]
    assert verdicts == [made.decide({}, past(seed=seed)).verdict for seed in range(4000)]
    rate = verdicts.count("accept") / len(verdicts)
    assert abs(rate - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 4000)


def test_the_first_accepted_image_of_a_past() -> None:
    """Readings, empty before there is one, so a gate can ask by name at once."""
    assert past(5.0).first == {}
    assert past(5.0).first.get("q") is None
    assert past(5.0).previous["q"].value == 5.0
    later = past(5.0, [6.0, 7.0])
    assert (later.first["q"].value, later.previous["q"].value, later.origin["q"].value) == (6.0, 7.0, 5.0)
