"""Several evaluators as one: votes."""

from __future__ import annotations

import numpy as np
import pytest

from turngate.evaluators import Failed, Score, Unscored

from ._ensembles import build, once, says, value


@pytest.mark.parametrize(
    ("yes", "no", "majority", "veto"), [(3, 0, 1, 1), (2, 1, 1, 0), (1, 1, 0, 0), (1, 2, 0, 0), (0, 3, 0, 0)]
)
def test_votes(yes: int, no: int, majority: int, veto: int) -> None:
    members = {f"y{n}": says(7) for n in range(yes)} | {f"n{n}": says(7, direction="lower") for n in range(no)}
    at = {name: 7 if name[0] == "y" else 6.9 for name in members}
    for rule, expected, names in (("majority", majority, ("fail", "pass")), ("veto", veto, ("veto", "pass"))):
        result = once(build(rule, members, at=at))
        assert isinstance(result, Score)
        assert (result.value, result.label) == (expected, names[expected])
        assert result.components["share"] == yes / (yes + no)


def test_a_veto_stands_whoever_is_missing() -> None:
    members = {"a": says(1), "b": says("unscored:parse")}
    assert value(once(build("veto", members, at={"a": 7, "b": 7}))) == 0
    assert isinstance(once(build("veto", members, at={"a": 0, "b": 7})), Unscored), "the missing one might object"
    assert isinstance(once(build("majority", members, at={"a": 7, "b": 7})), Unscored)


def test_a_majority_is_that_of_those_who_scored() -> None:
    members = {"a": says(9), "b": says(1), "c": says(9), "d": says("unscored:parse"), "e": says("raise")}
    at = dict.fromkeys(members, 7)
    result = once(build("majority", members, at=at, need=3))
    assert isinstance(result, Score)
    assert (result.value, result.label) == (1, "pass")
    assert result.components["share"] == pytest.approx(2 / 3)
    assert (result.components["unscored"], result.components["failed"]) == (1, 1)
    assert isinstance(once(build("majority", members, at=at, need=4)), Failed)
    half = {"a": says(9), "b": says(1), "c": says("unscored:parse")}
    assert value(once(build("majority", half, at=dict.fromkeys(half, 7), need=2))) == 0, "a tie is no majority"


@pytest.mark.parametrize(("mark", "yes"), [(7, 1), (np.nextafter(7, 8), 0)])
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_the_mark_itself_is_a_yes(mark: float, yes: int, direction: str) -> None:
    sign = 1 if direction == "higher" else -1
    members = {"a": says(7.0 * sign, direction=direction)}
    assert value(once(build("veto", members, at={"a": float(mark) * sign}))) == yes
