"""The score cache: what makes two evaluations the same, and what is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate import parse_config
from turngate.evaluators import EVALUATORS, EvalInput, Evaluator, EvaluatorInput, Facts, Failed, Score, Unscored
from turngate.evaluators.bulk import Inputs, ScoreCache, cache_folder, cached_score, score_key

from ._counter import Counter, Settings, ask, picture
from .conftest import Open


def test_an_answer_is_computed_once(cache: ScoreCache, opened: Open) -> None:
    told = Score(0.25, "pass", "because", {"part": 1.5}, ("remark",))
    kept = replace(told, flags=("remark", "cached"))
    evaluator, sample = Counter(told), EvalInput(picture(1))
    assert [ask(cache, evaluator, sample) for _ in range(3)] == [told, kept, kept]
    assert evaluator.asked == 1
    cache.close()
    again = opened(cache.path.parent)
    assert ask(again, evaluator, sample) == kept
    assert evaluator.asked == 1


def test_parameters_have_entries_of_their_own(cache: ScoreCache) -> None:
    """C36: two instances of one class with different parameters."""
    one, other, sample = Counter(Score(1)), Counter(Score(2)), EvalInput(picture(1))
    first, second = Settings(type="counter", at=1), Settings(type="counter", at=2)
    for flags in ((), ("cached",)):
        assert ask(cache, one, sample, first) == Score(1, flags=flags)
        assert ask(cache, other, sample, second) == Score(2, flags=flags)
    assert (one.asked, other.asked) == (1, 1)


def test_real_instances_do_not_collide(cache: ScoreCache) -> None:
    """C36 with a real metric: PSNR to the origin and to the edited image, under one cache."""
    origin, previous = picture(100), picture(120)
    sample = EvalInput(picture(125), origin=origin, previous=previous)
    values = []
    for against in ("origin", "previous"):
        config = EVALUATORS.configure({"type": "psnr", "against": against}, "x")
        evaluator = EVALUATORS.build(config)
        results = [cached_score(cache, evaluator, config, [sample])[0] for _ in range(2)]
        (computed,) = evaluator.evaluate([sample])
        assert isinstance(computed, Score)
        assert results == [computed, replace(computed, flags=(*computed.flags, "cached"))]
        values.append(computed.value)
    assert values[0] != values[1]


def test_version_and_type_have_entries_of_their_own(cache: ScoreCache) -> None:
    sample, evaluators = EvalInput(picture(1)), [Counter(Score(1)), Counter(Score(2), version="2")]
    assert [ask(cache, one, sample) for one in evaluators] == [Score(1), Score(2)]
    assert ask(cache, Counter(Score(3)), sample, Settings(type="elsewhere:Counter")) == Score(3)


IMAGES = st.sampled_from([f"{digit}" * 64 for digit in "abc"])
INPUTS = st.builds(
    Inputs, IMAGES, *[st.none() | IMAGES] * 3, st.lists(IMAGES, max_size=2).map(tuple), st.none() | st.text(max_size=2)
)


@pytest.mark.slow
@given(INPUTS, INPUTS)
def test_what_is_not_looked_at_is_not_in_the_key(one: Inputs, other: Inputs) -> None:
    facts = Facts("x", "1", "higher", (0, 1), inputs=frozenset({"candidate", "previous", "instruction"}))
    seen = [(each.candidate, each.previous, each.instruction) for each in (one, other)]
    keys = [score_key(Settings(type="x"), facts, each) for each in (one, other)]
    assert (keys[0] == keys[1]) == (seen[0] == seen[1])


@given(INPUTS, INPUTS)
def test_what_is_looked_at_is_in_the_key(one: Inputs, other: Inputs) -> None:
    needs: frozenset[EvaluatorInput] = frozenset(get_args(EvaluatorInput))
    facts = Facts("x", "1", "higher", (0, 1), inputs=needs)
    keys = [score_key(Settings(type="x"), facts, each) for each in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


@pytest.mark.parametrize("answer", [Failed("machine", "OutOfMemoryError"), Failed("us", "range")])
def test_failures_are_never_kept(cache: ScoreCache, answer: Failed) -> None:
    evaluator, sample = Counter(answer, Score(0.5)), EvalInput(picture(1))
    kept = Score(0.5, flags=("cached",))
    assert [ask(cache, evaluator, sample) for _ in range(3)] == [answer, Score(0.5), kept]
    assert evaluator.asked == 2


def test_that_an_image_has_no_score_is_kept(cache: ScoreCache) -> None:
    evaluator, sample = Counter(Unscored("flat", "one level", ("remark",))), EvalInput(picture(1))
    assert ask(cache, evaluator, sample) == Unscored("flat", "one level", ("remark",))
    assert ask(cache, evaluator, sample) == Unscored("flat", "one level", ("remark", "cached"))
    assert evaluator.asked == 1


@pytest.mark.parametrize("facts", [{"deterministic": False}, {"batch_invariant": False}, {"paid": True}])
def test_only_repeatable_and_free_answers_are_kept(cache: ScoreCache, facts: dict[str, Any]) -> None:
    evaluator, sample = Counter(**facts), EvalInput(picture(1))
    for _ in range(2):
        ask(cache, evaluator, sample)
    assert evaluator.asked == 2


def test_a_batch_asks_only_for_what_is_owed(cache: ScoreCache) -> None:
    config = EVALUATORS.configure({"type": "scripted"}, "x")
    evaluator: Evaluator = EVALUATORS.build(config)
    samples = [EvalInput(picture(level)) for level in (10, 20, 30, 20)]
    cached_score(cache, evaluator, config, samples[1:2])
    results = cached_score(cache, evaluator, config, samples)
    assert [result.value for result in results if isinstance(result, Score)] == [
        pytest.approx(level / 255) for level in (10, 20, 30, 20)
    ]
    assert ["cached" in result.flags for result in results if isinstance(result, Score)] == [False, True, False, True]


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TURNGATE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "turngate"
    monkeypatch.setenv("TURNGATE_CACHE", "~/mine")
    assert cache_folder() == Path.home() / "mine"


def test_a_cache_changes_no_identity() -> None:
    raw = {"origin": "skimage:astronaut", "scenario": "replicate", "editor": "codec", "gate": "always_accept"}
    config = parse_config({**raw, "evaluators": ["brisque"]}, "test")
    assert config.identity() == config.model_copy(update={"score_cache": True}).identity()
