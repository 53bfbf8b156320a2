"""Several evaluators as one: averages, what happens when members are missing, and wrong settings."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.errors import ConfigError, UnknownComponent
from turngate.evaluators import Failed, Result, Score, Unscored
from turngate.testing import check_evaluator

from ._ensembles import build, once, says, value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("mean", {}),
        ("median", {}),
        ("min", {}),
        ("mean", {"scale": "range"}),
        ("min", {"scale": "range", "ranges": {"b": [0, 50]}}),
        ("majority", {"at": {"a": 40, "b": 50}}),
        ("veto", {"at": {"a": 40, "b": 50}, "need": 1}),
        ("rank_mean", {}),
    ],
)
def test_it_keeps_the_contract(rule: str, fields: dict[str, Any]) -> None:
    check_evaluator(build(rule, {"a": "brisque", "b": "piqe"}, **fields))


def test_members_of_both_directions_and_with_references() -> None:
    members = {"worn": "drift", "close": {"type": "psnr", "align": "shift"}, "nice": "brisque"}
    evaluator = build("mean", members, scale="range", ranges={"worn": [0, 5]})
    check_evaluator(evaluator)
    assert evaluator.facts.inputs == {"candidate", "origin"}
    assert (evaluator.facts.direction, evaluator.facts.range) == ("higher", (0, 1))


numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=7)


@settings(deadline=None)
@given(numbers, st.sampled_from(["higher", "lower"]))
def test_averages(values: list[float], direction: str) -> None:
    members = {f"m{number}": says(one, direction=direction) for number, one in enumerate(values)}
    mean, median, worst = (value(once(build(rule, members))) for rule in ("mean", "median", "min"))
    assert mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert median == pytest.approx(statistics.median(values))
    assert worst == (min(values) if direction == "higher" else max(values))
    assert build("min", members).facts.direction == direction
    assert min(values) <= median <= max(values), "C42: an average never leaves the members' range"
    assert min(values) <= mean <= max(values)


def test_rounding_does_not_carry_a_mean_past_an_exact_range() -> None:
    """The sum of three times 0.1, divided by three, is above 0.1."""
    members = {name: says(0.1, range=[0, 0.1]) for name in "abc"}
    assert value(once(build("mean", members))) == 0.1


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.floats(0, 10), min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_neither_order_nor_direction_of_members_matters(values: list[float], random: Any) -> None:
    """A lower-is-better member counts like its mirror image."""
    plain = {f"m{number}": says(one, range=[0, 10]) for number, one in enumerate(values)}
    mirrored = {name: says(10 - one, direction="lower", range=[0, 10]) for name, one in zip(plain, values, strict=True)}
    mixed = {name: random.choice([plain, mirrored])[name] for name in random.sample(list(plain), len(plain))}
    for rule in ("mean", "median", "min"):
        expected = value(once(build(rule, plain))) / 10
        assert value(once(build(rule, mixed, scale="range"))) == pytest.approx(expected)


def test_every_member_and_the_four_counts_are_parts() -> None:
    members = {
        "a": says(4, range=[0, 10]),
        "b": says(9, direction="lower", range=[0, 10]),
        "c": says("unscored:parse"),
        "d": says("raise"),
    }
    result = once(build("mean", members, scale="range", need=2, ranges={"c": [0, 1], "d": [0, 1]}))
    assert isinstance(result, Score)
    assert result.components == {
        "a": 4, "b": 9, "a.scaled": 0.4, "b.scaled": pytest.approx(0.1),
        "scored": 2, "unscored": 1, "failed": 1, "skipped": 0,
    }  # fmt: skip
    assert result.explanation is not None
    assert result.explanation.splitlines()[2] == "c: unscored (parse) the script says so"


@pytest.mark.parametrize(
    ("members", "need", "expected"),
    [
        ({"a": says(1), "b": says("unscored:parse")}, "all", Unscored("parse")),
        ({"a": says("unscored:flat"), "b": says("unscored:parse")}, 1, Unscored("undefined")),
        ({"a": says("failed:provider"), "b": says("unscored:parse")}, 1, Failed("provider", "members")),
        ({"a": says("nan"), "b": says(1)}, "all", Failed("us", "members")),
    ],
)  # fmt: skip
def test_too_few_scores_give_none(members: dict[str, Any], need: Any, expected: Result) -> None:
    result = once(build("mean", members, need=need))
    assert type(result) is type(expected)
    if isinstance(result, Unscored) and isinstance(expected, Unscored):
        assert result.why == expected.why
    if isinstance(result, Failed) and isinstance(expected, Failed):
        assert (result.fault, result.error) == (expected.fault, "members")
    assert "must:" in getattr(result, "detail", "")


def test_what_is_true_of_a_member_is_true_of_all() -> None:
    judge = {"type": "openai_judge", "model": "m", "base_url": "http://127.0.0.1:1"}
    facts = build("mean", {"a": judge, "b": says(1, range=[0, 10])}).facts
    assert (facts.deterministic, facts.paid, facts.range) == (False, True, (0, 10))
    assert facts.inputs == {"candidate", "previous", "instruction"}
    plain, other = (build("mean", {"a": one}).facts.version for one in ("brisque", "niqe"))
    assert plain != other


def test_an_ensemble_of_ensembles() -> None:
    inner = {"type": "ensemble", "rule": "min", "members": {"x": says(3), "y": says(5)}}
    assert value(once(build("mean", {"a": inner, "b": says(5)}))) == 4


@pytest.mark.parametrize(
    ("rule", "members", "fields", "told"),
    [
        ("mean", {"a": "brisqe"}, {}, "members.a.type: no evaluator is called 'brisqe'; did you mean 'brisque'?"),
        ("mean", {"a": {"type": "psnr", "algn": "shift"}}, {}, "members.a.algn: no such field; did you mean 'align'?"),
        ("mean", {"a": "brisque", "b": "psnr"}, {}, "scale: members are better in different directions"),
        ("mean", {"a": "drift"}, {"scale": "range"}, "ranges.a: is missing: drift has no finite range"),
        ("mean", {"a": "drift"}, {"scale": "range", "ranges": {"a": [3, 3]}}, "ranges.a: it goes from low to high"),
        ("mean", {"a": "drift"}, {"ranges": {"a": [0, 3]}}, "ranges: it means nothing here"),
        ("veto", {"a": "drift"}, {}, "at.a: is missing"),
        ("veto", {"a": "drift"}, {"at": {"a": 1, "b": 1}}, "at.b: there is no such member; there are: a"),
        ("mean", {"a": "drift"}, {"at": {"a": 1}}, "at: it means nothing here"),
        ("majority", {"a": "drift"}, {"at": {"a": 1}, "scale": "range"}, "scale: majority does not depend"),
        ("mean", {"a": "drift"}, {"need": 2}, "need: `all` or a number from 1 to 1, not 2"),
        ("mean", {"scored": "drift"}, {}, "members.scored: take another name"),
        ("mean", {}, {}, "members"),
        ("best", {"a": "drift"}, {}, "rule"),
    ],
)
def test_wrong_settings_are_told_in_one_line(
    rule: str, members: dict[str, Any], fields: dict[str, Any], told: str
) -> None:
    with pytest.raises((ConfigError, UnknownComponent)) as error:
        build(rule, members, **fields)
    assert told in str(error.value)
    assert "\n" not in str(error.value)
