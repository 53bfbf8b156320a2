"""Gates over several scores, and the one that reads a verdict in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from turngate import EvalInput, Facts, Past, Picture
from turngate.agent.gate import Reading
from turngate.errors import ConfigError
from turngate.evaluators import EVALUATORS
from turngate.graphs.decision import readings
from turngate.traces.records import ScoreRow

from ._support import direction, gate, past, reading, score


def scores(**values: tuple[float, Any]) -> dict[str, Reading]:
    return {name: Reading(name, value, which) for name, (value, which) in values.items()}


limits = st.fixed_dictionaries({}, optional={"min": score, "max": score, "worse_than_origin": st.floats(0, 50)}).filter(
    lambda one: bool(one) and one.get("min", -1e9) <= one.get("max", 1e9)
)


@given(q=score, r=score, origin=score, first=limits, second=limits, which=direction)
def test_a_veto_is_the_conjunction_of_its_limits(
    q: float, r: float, origin: float, first: dict[str, float], second: dict[str, float], which: Any
) -> None:
    """The same as `all` over one threshold or relative gate for each limit."""
    shown = scores(q=(q, which), r=(r, which))
    before = Past(1, 1, 0, scores(q=(origin, which), r=(origin, which)))
    expected = True
    for (name, limit), value in zip((("q", first), ("r", second)), (q, r), strict=True):
        expected &= limit.get("min", -1e9) <= value <= limit.get("max", 1e9)
        if "worse_than_origin" in limit:
            relative = {"evaluator": name, "reference": "origin", "margin": limit["worse_than_origin"]}
            expected &= gate(type="relative", **relative).decide(shown, before).verdict == "accept"
    decision = gate(type="veto", limits={"q": first, "r": second}).decide(shown, before)
    assert (decision.verdict == "accept") == expected


def test_a_veto_names_who_said_it() -> None:
    made = gate(type="veto", limits={"q": {"max": 5}, "r": {"min": 20}, "s": {"worse_than_origin": 2}})
    shown = scores(q=(5.5, "lower"), r=(30, "higher"), s=(4.5, "lower"))
    decision = made.decide(shown, Past(1, 1, 0, scores(s=(2.0, "lower"))))
    assert decision.reason == (
        "1 of 3 accept, 3 needed: threshold no (q 5.5 > 5); threshold yes (r 30 >= 20); "
        "relative no (s 4.5 is 2.5 worse than origin 2 (margin 2))"
    )
    names = ("1.threshold", "1.max", "2.min", "3.worse_by")
    assert [decision.evidence[key] for key in names] == ["reject", 5, 20, 2.5]
    assert decision.thresholds == {"q": 5, "r": 20, "s": 4}
    assert "q 4" in made.decide(scores(q=(4, "lower"), r=(20, "higher"), s=(99, "lower")), past()).reason


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, r"gate\.limits"),
        ({"q": {}}, r"gate\.limits\.q: give min, max or worse_than_origin"),
        ({"q": {"min": 2, "max": 1}}, "nothing is accepted"),
        ({"q": {"mni": 2}}, r"gate\.limits\.q\.mni: no such field"),
        ({"q": {"worse_than_origin": -1}}, r"gate\.limits\.q\.worse_than_origin"),
    ],
)
def test_limits_that_say_nothing(limits: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        gate(type="veto", limits=limits)


def test_three_judges_pass_at_seven() -> None:
    made = gate(type="mean", evaluators=["a", "b", "c"], at=7)
    decision = made.decide(scores(a=(8, "higher"), b=(7, "higher"), c=(6, "higher")), past())
    assert (decision.verdict, decision.evidence["mean"]) == ("accept", 7)
    assert made.decide(scores(a=(9, "higher"), b=(9, "higher"), c=(2, "higher")), past()).verdict == "reject"


marks = st.lists(score, min_size=1, max_size=5)


@given(values=marks, at=score, which=direction)
def test_a_mean_is_a_threshold_on_the_mean(values: list[float], at: float, which: Any) -> None:
    """The formula of the gate `mean` before it was a preset, but where rounding alone decides."""
    mean = float(np.mean(values))
    assume(abs(mean - at) > 1e-9 * (1 + abs(at)))
    shown = {f"j{number}": Reading(f"j{number}", value, which) for number, value in enumerate(values)}
    decision = gate(type="mean", evaluators=list(shown), at=at).decide(shown, past())
    assert (decision.verdict == "accept") == (mean >= at if which == "higher" else mean <= at)
    assert decision.evidence["mean"] == pytest.approx(mean)


@given(values=marks, at=st.floats(0, 1), data=st.data())
def test_a_normalised_mean_is_a_threshold_on_the_mean_of_shares(
    values: list[float], at: float, data: st.DataObject
) -> None:
    ends = st.tuples(score, score).filter(lambda pair: abs(pair[0] - pair[1]) > 1e-3)
    shown, scales, shares = {}, {}, []
    for number, value in enumerate(values):
        worst, best = data.draw(ends)
        shown[f"j{number}"] = Reading(f"j{number}", value, "higher" if best > worst else "lower")
        scales[f"j{number}"] = {"worst": worst, "best": best}
        shares.append(min(max((value - worst) / (best - worst), 0.0), 1.0))
    mean = float(np.mean(shares))
    assume(abs(mean - at) > 1e-9)
    decision = gate(type="mean", evaluators=list(shown), at=at, normalise=scales).decide(shown, past())
    assert (decision.verdict == "accept") == (mean >= at)


@given(values=marks, which=direction)
def test_gate_and_ensemble_have_the_same_mean(values: list[float], which: Any) -> None:
    shown = {f"j{number}": Reading(f"j{number}", value, which) for number, value in enumerate(values)}
    fields = {"type": "scripted", "rule": "sequence", "direction": which}
    members = {name: {**fields, "values": [one.value]} for name, one in shown.items()}
    joined: Any = EVALUATORS.build(EVALUATORS.configure({"type": "ensemble", "rule": "mean", "members": members}, "e"))
    (result,) = joined.evaluate([EvalInput(Picture.from_rgb(np.zeros((4, 4, 3), np.uint8)))])
    assert gate(type="mean", evaluators=list(shown), at=0).decide(shown, past()).evidence["mean"] == result.value


def test_a_mean_follows_the_direction() -> None:
    made = gate(type="mean", evaluators=["a", "b"], at=-5)
    assert made.decide(scores(a=(-9, "lower"), b=(-1, "lower")), past()).verdict == "accept"
    assert made.decide(scores(a=(-9, "lower"), b=(0, "lower")), past()).verdict == "reject"


def test_judges_of_other_directions_need_a_scale() -> None:
    mixed = scores(a=(8, "higher"), b=(30, "lower"))
    with pytest.raises(ConfigError, match=r"normalise: judges of one direction.*b \(lower is better\)"):
        gate(type="mean", evaluators=["a", "b"], at=7).decide(mixed, past())
    scales = {"a": {"worst": 0, "best": 10}, "b": {"worst": 80, "best": 0}}
    decision = gate(type="mean", evaluators=["a", "b"], at=0.7, normalise=scales).decide(mixed, past())
    assert decision.verdict == "accept"
    assert decision.evidence["mean"] == pytest.approx((0.8 + 0.625) / 2)


def test_a_score_beyond_its_scale_counts_as_the_end() -> None:
    scales = {"a": {"worst": 0, "best": 10}, "b": {"worst": 0, "best": 10}}
    made = gate(type="mean", evaluators=["a", "b"], at=0.6, normalise=scales)
    assert made.decide(scores(a=(1e9, "higher"), b=(1, "higher")), past()).evidence["mean"] == pytest.approx(0.55)


def facts(which: Any, high: float) -> Facts:
    return Facts(name="x", version="1", direction=which, range=(0.0, high))


def test_a_mean_says_beforehand_which_evaluators_it_cannot_average() -> None:
    plain: Any = gate(type="mean", evaluators=["a", "b"], at=7)
    assert plain.misfit({"a": facts("higher", 10), "b": facts("higher", 10)}) is None
    assert "b (lower is better, 0..10)" in plain.misfit({"a": facts("higher", 10), "b": facts("lower", 10)})
    assert "0..100" in plain.misfit({"a": facts("higher", 10), "b": facts("higher", 100)})
    scales = {"a": {"worst": 0, "best": 10}, "b": {"worst": 0, "best": 10}}
    scaled: Any = gate(type="vote", gates=[{"type": "mean", "evaluators": ["a", "b"], "at": 0.7, "normalise": scales}])
    assert scaled.misfit({"a": facts("higher", 10), "b": facts("higher", 100)}) is None
    told = scaled.misfit({"a": facts("higher", 10), "b": facts("lower", 100)})
    assert told == "gates.0.normalise.b: lower is better, so exchange worst and best"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"evaluators": []}, r"gate\.evaluators"),
        ({"evaluators": ["a", "a"]}, "named twice"),
        ({"normalise": {"a": {"worst": 0, "best": 1}}}, "no scale for b"),
        ({"normalise": {"aa": {"worst": 0, "best": 1}}}, "did you mean 'a'"),
        ({"normalise": {n: {"worst": 1, "best": 1} for n in "ab"}}, r"normalise\.a\.best: best and worst must differ"),
        ({"normalise": {n: {"worst": 0, "best": 9} for n in "ab"}}, r"gate\.at: .* between 0 and 1"),
    ],
)
def test_wrong_means(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        gate(**{"type": "mean", "evaluators": ["a", "b"], "at": 7, **fields})


@pytest.mark.parametrize(
    ("label", "verdict"),
    [
        ("pass", "accept"),
        (" PASS\n", "accept"),
        ("fine", "accept"),
        ("fail", "reject"),
        ("", "reject"),
        (None, "reject"),
    ],
)
def test_labels(label: str | None, verdict: str) -> None:
    made = gate(type="label", evaluator="q", accept=["Pass", "fine"])
    decision = made.decide(reading(0.0, label=label), past())
    assert decision.verdict == verdict
    assert decision.evidence["label"] == label


@pytest.mark.parametrize("accept", [[], None, 3])
def test_a_label_gate_needs_labels(accept: Any) -> None:
    with pytest.raises(ConfigError, match=r"gate\.accept"):
        gate(type="label", evaluator="q", accept=accept)


def test_a_recorded_label_reaches_the_gate() -> None:
    row: dict[str, Any] = {"turn": 1, "attempt": 1, "evaluator": "q", "type": "judge", "version": "1", "value": 3.0}
    row |= {"status": "scored", "direction": "higher", "label": "degraded", "started_ns": 0, "ended_ns": 0}
    shown = readings([ScoreRow(**row)])
    assert shown["q"] == Reading("q", 3.0, "higher", "degraded")
    assert gate(type="label", evaluator="q", accept="pass").decide(shown, past()).verdict == "reject"


@pytest.mark.parametrize("which", ["higher", "lower"])
def test_a_threshold_may_be_a_band(which: Any) -> None:
    """`min` and `max` hold whichever way is better; the worst value that is accepted is on the worse side."""
    band = gate(type="threshold", evaluator="q", min=2, max=4)
    verdicts = [band.decide(reading(value, which), past()).verdict for value in (1.9, 2, 3, 4, 4.1)]
    assert verdicts == ["reject", "accept", "accept", "accept", "reject"]
    decision = band.decide(reading(3, which), past())
    assert decision.reason == "q 3 between 2 and 4"
    assert decision.evidence == {"value": 3, "min": 2, "max": 4}
    assert decision.thresholds == {"q": 2 if which == "higher" else 4}
    above: Any = gate(type="threshold", evaluator="q", max=4).decide(reading(5, which), past())
    assert above.reason == "q 5 > 4" and above.thresholds == ({} if which == "higher" else {"q": 4})


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({}, r"gate\.at: is missing"),
        ({"at": 1, "max": 2}, r"gate\.at: give it, or `min` and `max`"),
        ({"min": 2, "max": 1}, r"gate\.min: is above max"),
    ],
)
def test_wrong_thresholds(bounds: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        gate(type="threshold", evaluator="q", **bounds)
