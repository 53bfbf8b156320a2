"""Several evaluators as one: averages, votes, ranks, and what happens when members are missing."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate import Picture
from turngate.errors import ConfigError, UnknownPart
from turngate.evaluators import EVALUATORS, Evaluator, Failed, Result, Sample, Score, Unscored
from turngate.evaluators.scoring import score
from turngate.testing import check_evaluator

GRAYS = [Picture.from_rgb(np.full((16, 16, 3), level, dtype=np.uint8)) for level in (0, 51, 102, 153, 204)]


def build(rule: str, members: dict[str, Any], **fields: Any) -> Evaluator:
    raw = {"type": "ensemble", "rule": rule, "members": members, **fields}
    return EVALUATORS.build(EVALUATORS.configure(raw, "evaluators.both"))


def says(*values: Any, direction: str = "higher", **fields: Any) -> dict[str, Any]:
    return {"type": "scripted", "rule": "sequence", "values": list(values), "direction": direction, **fields}


def once(evaluator: Evaluator, candidate: Picture = GRAYS[0], **sample: Any) -> Result:
    return score(evaluator, [Sample(candidate, **sample)])[0]


def value(result: Result) -> float:
    assert isinstance(result, Score), result
    return result.value


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
    assert evaluator.facts.needs == {"candidate", "origin"}
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


def test_rank_among_the_accepted_images() -> None:
    """Mean gray as the measure: brighter is better for one member, darker for the other."""
    bright, dark = ({"type": "scripted", "direction": direction} for direction in ("higher", "lower"))
    history = (GRAYS[1], GRAYS[2], GRAYS[3])
    assert value(once(build("rank_mean", {"a": bright}), GRAYS[4], history=history)) == 1
    assert value(once(build("rank_mean", {"a": bright}), GRAYS[2], history=history)) == 0.5
    result = once(build("rank_mean", {"a": bright, "b": dark}), GRAYS[0], history=history)
    assert isinstance(result, Score)
    assert (result.value, result.components["a"], result.components["b"]) == (0.5, 0, 1)
    assert result.components["a.value"] == 0


def test_a_rank_needs_a_past_and_repeatable_members() -> None:
    result = once(build("rank_mean", {"a": "scripted"}), history=())
    assert isinstance(result, Unscored)
    assert result.why == "no_reference"
    with pytest.raises(ConfigError, match=r"members\.a: rank_mean scores old images again"):
        build("rank_mean", {"a": says(1, 2)})
    judge = {"type": "openai_judge", "model": "m", "base_url": "http://127.0.0.1:1"}
    with pytest.raises(ConfigError, match=r"members\.a: rank_mean"):
        build("rank_mean", {"a": judge})


def test_a_rank_is_that_of_the_chain_not_of_the_batch() -> None:
    evaluator = build("rank_mean", {"a": "scripted"})
    assert evaluator.facts.batch_invariant
    samples = [Sample(candidate, history=(GRAYS[1], GRAYS[3])) for candidate in GRAYS]
    together = [value(result) for result in score(evaluator, samples)]
    assert together == [value(score(evaluator, [sample])[0]) for sample in samples] == [1, 0.75, 0.5, 0.25, 0]


def test_what_is_true_of_a_member_is_true_of_all() -> None:
    judge = {"type": "openai_judge", "model": "m", "base_url": "http://127.0.0.1:1"}
    facts = build("mean", {"a": judge, "b": says(1, range=[0, 10])}).facts
    assert (facts.deterministic, facts.paid, facts.range) == (False, True, (0, 10))
    assert facts.needs == {"candidate", "previous", "instruction"}
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
    with pytest.raises((ConfigError, UnknownPart)) as error:
        build(rule, members, **fields)
    assert told in str(error.value)
    assert "\n" not in str(error.value)
