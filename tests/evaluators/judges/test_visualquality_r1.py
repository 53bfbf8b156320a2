"""VisualQuality-R1: scripted texts through the reader, and a tiny model of the same class through everything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.evaluators import EVALUATORS, EvalInput, Evaluator, Failed, Score, Unscored
from turngate.evaluators.judges import VisualQualityR1, read_rating
from turngate.evaluators.scoring import score
from turngate.testing import check_evaluator

from ._tiny_vlm import tiny_vlm


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("<think>It is blurred.</think><answer>2.35</answer>", 2.35),
        ("<answer>4</answer>", 4.0),
        ("<answer>\n 4.50 \n</answer>", 4.5),
        ("<answer>4.25/5</answer>", 4.25),
        ("<answer>Rating: 3.</answer>", 3.0),
        ("<think>first I thought <answer>1</answer></think> <answer>4.9</answer>", 4.9),
        ("<answer>1</answer>", 1.0),
        ("<answer>5.00</answer>", 5.0),
    ],
)
def test_the_first_number_in_the_last_answer(text: str, rating: float) -> None:
    assert read_rating(text) == rating


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The quality is 4.2.",
        "<answer></answer>",
        "<answer>good</answer>",
        "<answer>4.2",
        "4.2</answer>",
        "<answer>4,25</answer>",
        "<answer>4.2.1</answer>",
        "<answer>v4</answer>",
        "<answer>1e3</answer>",
        "<answer>nan</answer>",
        "<answer>3</answer> or rather <answer>cannot say</answer>",
    ],
)
def test_no_rating_is_no_score(text: str) -> None:
    """The published script takes a random number instead."""
    result = read_rating(text)
    assert isinstance(result, Unscored)
    assert result.why == "parse"


@pytest.mark.parametrize("number", ["0", "0.99", "5.01", "73", "-3", "9" * 400])
def test_a_rating_outside_the_scale_is_a_failure(number: str) -> None:
    result = read_rating(f"<answer>{number}</answer>")
    assert isinstance(result, Failed)
    assert (result.fault, result.error) == ("provider", "range")


@settings(deadline=None)
@given(st.text() | st.text(alphabet="<answer>/12.5, ").map(lambda text: f"<answer>{text}</answer>"))
def test_no_text_breaks_the_reader(text: str) -> None:
    result = read_rating(text)
    if isinstance(result, float):
        assert 1 <= result <= 5
        assert any(letter.isdigit() for letter in text)
    else:
        assert isinstance(result, Unscored | Failed)


def build(folder: Path, **fields: Any) -> Evaluator:
    raw = {"type": "visualquality_r1", "folder": str(folder), "max_new_tokens": 24, **fields}
    return EVALUATORS.build(EVALUATORS.configure(raw, "evaluators.vq"))


@pytest.mark.slow
def test_a_tiny_model_of_the_same_class(tmp_path: Path, sample: EvalInput) -> None:
    pytest.importorskip("transformers")
    says = "<think>Dots in the sky.</think><answer>3.42</answer>"
    evaluator = build(tiny_vlm(tmp_path / "says", says))
    check_evaluator(evaluator)
    (result,) = score(evaluator, [sample])
    assert isinstance(result, Score)
    assert (result.value, result.explanation) == (3.42, says)
    (several,) = score(build(tmp_path / "says", answers=3, thinking=False), [sample])
    assert isinstance(several, Score)
    assert several.value == pytest.approx(3.42)
    assert list(several.components) == ["answer_1", "answer_2", "answer_3"]
    assert several.usage is not None and several.usage.calls == 3
    wild = build(tiny_vlm(tmp_path / "wild", "<answer>7</answer>"))
    assert isinstance(score(wild, [sample])[0], Failed)


@pytest.mark.slow
def test_a_random_model_gives_no_score_and_the_same_words_for_the_same_seed(tmp_path: Path, sample: EvalInput) -> None:
    pytest.importorskip("transformers")
    folder = tiny_vlm(tmp_path / "random")
    for fields in ({}, {"answers": 2, "seed": 5}):
        results = [score(build(folder, **fields), [sample])[0] for _ in range(2)]
        assert isinstance(results[0], Unscored)
        assert results[0] == results[1]


def test_facts_are_known_without_loading_anything() -> None:
    facts = VisualQualityR1.facts
    assert (facts.direction, facts.range, facts.deterministic) == ("higher", (1, 5), True)
