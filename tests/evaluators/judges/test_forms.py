"""What answers come to: marks, comparisons and checks, and which questions cannot be asked."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.errors import ConfigError
from turngate.evaluators import Score, Unscored
from turngate.evaluators.judges import presets, read_form

marks = st.floats(0, 10)


def conclude(ask: Any, *answers: dict[str, Any]) -> Score:
    result = read_form(ask, "ask").conclude([{"reasoning": "seen", **answer} for answer in answers])
    assert isinstance(result, Score)
    return result


@settings(deadline=None)
@given(marks, marks, st.sampled_from(["pass", "fail"]))
def test_lme_turn_is_seven_or_more_on_both(following: float, consistency: float, verdict: str) -> None:
    score = conclude("lme_turn", {"prompt_following": following, "consistency": consistency, "verdict": verdict})
    assert score.value == min(following, consistency)
    assert score.label == ("pass" if following >= 7 and consistency >= 7 else "fail")
    assert ("inconsistent" in score.flags) == (score.label != verdict)
    assert score.components == {"prompt_following": following, "consistency": consistency}


@pytest.mark.parametrize(
    ("loss", "corruption", "label"),
    [(0, 0, "sound"), (1, 0, "sound"), (1, 1, "degraded"), (0, 2, "degraded"), (2, 2, "degraded")],
)
def test_lme_degraded_is_two_or_more_together(loss: int, corruption: int, label: str) -> None:
    score = conclude("lme_degraded", {"content_loss": loss, "surface_corruption": corruption, "verdict": label})
    assert (score.value, score.label, score.flags) == (loss + corruption, label, ())
    form = read_form("lme_degraded", "ask")
    assert (form.better, form.bounds, form.orders) == ("lower", (0, 4), (("origin", "candidate"),))


@settings(deadline=None)
@given(marks, marks, marks, marks)
def test_vie_score_is_the_root_of_the_product_of_the_two_worst(es: float, oe: float, na: float, ar: float) -> None:
    score = conclude("vie_score", {"edit_success": es, "over_editing": oe, "naturalness": na, "artefacts": ar})
    assert score.value == pytest.approx(math.sqrt(min(es, oe) * min(na, ar)))
    assert score.label is None


def test_a_weighted_mean_and_a_single_criterion() -> None:
    ask = {
        "form": "pointwise", "criteria": ["overall", "artefacts"], "value": "mean",
        "weights": {"overall": 3, "artefacts": 1},
    }  # fmt: skip
    assert conclude(ask, {"overall": 8, "artefacts": 4}).value == 7
    assert conclude({"preset": "edit", "value": "consistency"}, {
        "prompt_following": 1, "consistency": 9, "visual_quality": 2, "verdict": "pass",
    }).value == 9  # fmt: skip


@settings(deadline=None)
@given(st.lists(marks | st.sampled_from([0.0, 10.0]), min_size=1, max_size=9), st.data())
def test_no_combination_leaves_the_scale(values: list[float], data: st.DataObject) -> None:
    """C42: not by rounding either."""
    named = {f"c{number}": value for number, value in enumerate(values)}
    criteria = [{"name": name, "asks": "?"} for name in named]
    weights = {name: data.draw(st.floats(0.01, 9)) for name in named}
    for ask in ({"value": "geometric"}, {"value": "mean", "weights": weights}, {"value": "worst"}, {"value": "sum"}):
        form = read_form({"form": "pointwise", "criteria": criteria, **ask}, "ask")
        value = conclude(form, named).value
        assert form.bounds[0] <= value <= form.bounds[1]
        if ask["value"] != "sum":
            assert min(values) <= value + 1e-9 and value <= max(values) + 1e-9


def test_the_fifth_root_of_five_full_marks() -> None:
    named = {f"c{number}": 10 for number in range(5)}
    criteria = [{"name": name, "asks": "?"} for name in named]
    assert conclude({"form": "pointwise", "criteria": criteria, "value": "geometric"}, named).value == 10


@pytest.mark.parametrize(
    ("reference_first", "candidate_first", "value", "label", "bias"),
    [
        ("second", "first", 1.0, "candidate", 0),
        ("first", "second", 0.0, "reference", 0),
        ("tie", "tie", 0.5, "tie", 0),
        ("first", "first", 0.5, "tie", 1),
        ("second", "second", 0.5, "tie", -1),
        ("tie", "first", 0.5, "tie", 0.5),
        ("second", "tie", 0.5, "tie", -0.5),
    ],
)
def test_a_comparison_needs_one_winner_in_both_orders(
    reference_first: str, candidate_first: str, value: float, label: str, bias: float
) -> None:
    answers = [{"better": reference_first}, {"better": candidate_first}]
    score = conclude({"form": "pairwise", "on_disagreement": "tie"}, *answers)
    assert (score.value, score.label, score.components["position_bias"]) == (value, label, bias)
    assert ("disagreement" in score.flags) == (bias != 0)
    strict = read_form("pairwise", "ask").conclude([{"reasoning": "", **answer} for answer in answers])
    if bias:
        assert isinstance(strict, Unscored)
        assert (strict.why, strict.flags) == ("disagreement", (f"better:{reference_first},{candidate_first}",))
    else:
        assert isinstance(strict, Score)
        assert strict.value == value


def test_one_no_is_a_veto() -> None:
    checks = {"clean": "Is it clean?", "whole": "Is it whole?", "framed": "Is it framed as before?"}
    ask = {"form": "rubric", "checks": checks}
    assert conclude(ask, {"clean": True, "whole": True, "framed": True, "verdict": "pass"}) == Score(
        1.0, "pass", "seen", {"clean": 1, "whole": 1, "framed": 1}
    )
    vetoed = conclude(ask, {"clean": True, "whole": False, "framed": True, "verdict": "pass"})
    assert (vetoed.value, vetoed.label) == (2 / 3, "veto")
    assert vetoed.flags == ("inconsistent", "verdict:pass")
    assert vetoed.explanation == "no: whole\nseen"
    lenient = conclude({**ask, "vetoes": ["clean"]}, {"clean": True, "whole": False, "framed": True, "verdict": "pass"})
    assert (lenient.label, lenient.flags) == ("pass", ())


@pytest.mark.parametrize("name", presets())
def test_a_preset_survives_run_json_and_can_be_changed(name: str) -> None:
    form = read_form(name, "ask")
    assert form.preset == name
    assert read_form(form.model_dump(mode="json"), "ask") == form
    if form.form == "pointwise":
        changed = read_form({"preset": name, "references": ["origin"]}, "ask")
        assert changed.orders == (("origin", "candidate"),)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        ("edt", "ask: no preset or form is called 'edt'; did you mean 'edit'?"),
        (["edit"], "ask: name a preset or a form"),
        ({"criteria": ["overall"]}, "ask.form: one of pointwise, pairwise, rubric"),
        ({"form": "pointwise"}, "ask.criteria: is missing"),
        ({"form": "pointwise", "criteria": []}, "ask.criteria: "),
        ({"preset": "edit", "critera": []}, "ask.critera: no such field; did you mean 'criteria'?"),
        ({"form": "pointwise", "criteria": ["overal"]}, "ask.criteria.0: no criterion is called 'overal'; did you"),
        ({"form": "pointwise", "criteria": [{"name": "a b", "asks": "?"}]}, "ask.criteria.0.name: 'a b' is no name"),
        ({"form": "pointwise", "criteria": [{"name": "mean", "asks": "?"}]}, "'mean' means something else"),
        ({"form": "pointwise", "criteria": [{"name": "a", "asks": "?", "low": 10}]}, "low must be below high"),
        ({"form": "pointwise", "criteria": ["overall", "overall"]}, "ask.criteria: two have the same name"),
        ({"preset": "edit", "value": "best"}, "ask.value: one of worst, mean"),
        ({"form": "pointwise", "criteria": ["overall", "content_loss"]}, "ask.value: `worst` needs criteria that"),
        ({"preset": "lme_degraded", "value": "geometric", "fail_at": None}, "ask.value: `geometric` needs"),
        ({"preset": "edit", "groups": [["consistency"]]}, "ask.groups: "),
        ({"preset": "vie_score", "groups": [["sharpness"]]}, "ask.groups: there is no criterion 'sharpness'"),
        ({"preset": "edit", "value": "mean", "weights": {"consistency": 1}}, "ask.weights: "),
        ({"preset": "edit", "pass_at": 70}, "ask.pass_at: the value lies between 0 and 10"),
        ({"preset": "edit", "fail_at": 3}, "ask.pass_at: give it or fail_at, not both"),
        ({"preset": "edit", "labels": ["ok", "OK"]}, "labels are two different words"),
        ({"form": "pairwise", "against": "candidate"}, "ask.against"),
        ({"form": "rubric", "checks": {}}, "ask.checks"),
        ({"form": "rubric", "checks": {"reasoning": "?"}}, "'reasoning' means something else"),
        ({"form": "rubric", "checks": {"a": " "}}, "a check is a question"),
        ({"form": "rubric", "checks": {"a": "?"}, "vetoes": ["b"]}, "there is no check 'b'"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_asked_is_told_in_one_line(ask: Any, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_form(ask, "ask")
    assert told in str(error.value)
    assert "\n" not in str(error.value)
