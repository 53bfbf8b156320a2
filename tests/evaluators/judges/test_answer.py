"""The reader of answers: one JSON object, checked, or a typed reason. It never invents a mark."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.evaluators import Failed, Unscored
from turngate.evaluators.judges import answer_model, mark, read_answer, schema_of, word

MODEL = answer_model(
    {"reasoning": str, "copy": mark(0, 10), "loss": mark(0, 2, whole=True), "verdict": word("pass", "fail")}
)
GOOD = {"reasoning": "clean", "copy": 7.5, "loss": 1, "verdict": "pass"}


def with_(**fields: Any) -> str:
    return json.dumps({**GOOD, **fields})


@pytest.mark.parametrize(
    "text",
    [
        with_(),
        f"Here it is:\n```json\n{with_()}\n```\nI hope it helps.",
        f"I look at {{the corners}} first. {with_()}",
        f"<think>perhaps {with_(copy=2)}, or not</think>{with_()}",
        f"{with_()}\nOnce more: {with_()}",
        with_(copy="7.5", loss="1", verdict=" PASS "),
        with_(more="fields do not matter"),
        with_(loss=1.0),
    ],
)
def test_an_answer_is_found_whatever_stands_around_it(text: str) -> None:
    assert read_answer(text, MODEL) == GOOD


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("The image looks fine, eight of ten.", "no JSON object"),
        (with_()[:-20], "no JSON object"),
        ('{"reasoning": "x", "copy": 7}', "no JSON object with reasoning, copy, loss, verdict"),
        (json.dumps([GOOD["copy"], 3]), "no JSON object"),
        (f"{with_()} {with_(copy=3)}", "2 different answers"),
        (with_(copy=True), "copy"),
        (with_(copy="eight"), "copy"),
        (with_(copy="7/10"), "copy"),
        (with_(copy=None), "copy"),
        (with_(copy=[7]), "copy"),
        (with_(loss=1.5), "loss"),
        (with_(loss=True), "loss"),
        (with_(verdict="maybe"), "verdict"),
        (with_(reasoning=3), "reasoning"),
        (with_().replace("7.5", "NaN"), "no JSON object"),
        (with_().replace("7.5", "Infinity"), "no JSON object"),
        (with_().replace('"copy": 7.5', '"copy": 7.5, "copy": 2'), "no JSON object"),
        (with_().replace("7.5", "1" * 5000), "no JSON object"),
        ("{" * 50_000, "no JSON object"),
        ('{"a":' * 30_000, "no JSON object"),
        ("x" * 300_000, "300000 characters"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_what_is_no_answer_is_unscored(text: str, why: str) -> None:
    """C30: never 0, never a guess."""
    result = read_answer(text, MODEL)
    assert isinstance(result, Unscored)
    assert result.why == "parse"
    assert why in result.detail


@pytest.mark.parametrize("fields", [{"copy": 11}, {"copy": -0.1}, {"loss": 3}, {"copy": "12"}])
def test_a_mark_outside_its_scale_is_a_failure(fields: dict[str, Any]) -> None:
    """C30."""
    result = read_answer(with_(**fields), MODEL)
    assert isinstance(result, Failed)
    assert (result.fault, result.error) == ("provider", "range")


@pytest.mark.parametrize("text", ["I'm sorry, but I can't help with that.", "I cannot judge people.", "Sorry, no."])
def test_a_refusal_in_words_is_told_from_prose(text: str) -> None:
    result = read_answer(text, MODEL)
    assert isinstance(result, Unscored)
    assert result.why == "refused"


json_like = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*GOOD, "other"]), inner, max_size=5),
    max_leaves=12,
)


@settings(deadline=None)
@given(json_like, st.text(max_size=30), st.text(max_size=30))
def test_no_text_breaks_the_reader_or_brings_a_mark_that_it_does_not_hold(value: Any, before: str, after: str) -> None:
    text = before + json.dumps(value) + after
    result = read_answer(text, MODEL)
    if isinstance(result, dict):
        assert 0 <= result["copy"] <= 10
        assert result["loss"] in (0, 1, 2)
        assert "copy" in text
    else:
        assert isinstance(result, Unscored | Failed)


@settings(deadline=None)
@given(st.floats(0, 10), st.integers(0, 2), st.sampled_from(["pass", "fail"]), st.text())
def test_every_good_answer_is_read_as_it_is(mark: float, loss: int, verdict: str, reasoning: str) -> None:
    answer = {"reasoning": reasoning, "copy": mark, "loss": loss, "verdict": verdict}
    assert read_answer(json.dumps(answer), MODEL) == answer


def test_the_schema_says_what_is_checked() -> None:
    schema = schema_of(MODEL)
    assert schema["required"] == ["reasoning", "copy", "loss", "verdict"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["copy"] == {"type": "number", "minimum": 0, "maximum": 10}
    assert schema["properties"]["loss"] == {"type": "integer", "minimum": 0, "maximum": 2}
    assert schema["properties"]["verdict"]["enum"] == ["pass", "fail"]
