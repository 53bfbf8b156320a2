"""The score cache: what makes two evaluations the same, what is kept, and what happens when it breaks."""

from __future__ import annotations

import itertools
import multiprocessing
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate import parse_config, start_run
from turngate.errors import MachineError
from turngate.evaluators import EVALUATORS, Evaluator, Facts, Failed, Need, Result, Sample, Score, Unscored
from turngate.evaluators.score_cache import ScoreCache, cache_folder, cached_score
from turngate.evaluators.score_key import Inputs, score_key
from turngate.part import PartConfig
from turngate.picture import Picture


def picture(level: int, side: int = 32) -> Picture:
    return Picture.from_rgb(np.full((side, side, 3), level, dtype=np.uint8))


class Counter:
    """Counts how often it is asked, and answers as a test says."""

    def __init__(self, *answers: Result, **facts: Any) -> None:
        values: dict[str, Any] = {"name": "counter", "version": "1", "direction": "higher", "range": (0.0, 1e9)}
        self.facts = Facts(**{**values, **facts})
        self.asked = 0
        self._answers = itertools.cycle(answers or [Score(0.5)])

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        self.asked += len(batch)
        return [next(self._answers) for _ in batch]


class Settings(PartConfig):
    """Settings of a test."""

    at: int = 0


Open = Callable[[Path], ScoreCache]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens caches, and closes them at the end."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(closing(ScoreCache(folder)))


@pytest.fixture
def cache(opened: Open, tmp_path: Path) -> ScoreCache:
    return opened(tmp_path / "cache")


def ask(cache: ScoreCache, evaluator: Counter, sample: Sample, config: PartConfig | None = None) -> Result:
    return cached_score(cache, evaluator, config or Settings(type="counter"), [sample])[0]


def test_an_answer_is_computed_once(cache: ScoreCache, opened: Open) -> None:
    told = Score(0.25, "pass", "because", {"part": 1.5}, ("remark",))
    evaluator, sample = Counter(told), Sample(picture(1))
    assert [ask(cache, evaluator, sample) for _ in range(3)] == [told] * 3
    assert evaluator.asked == 1
    cache.close()
    again = opened(cache.path.parent)
    assert ask(again, evaluator, sample) == told
    assert evaluator.asked == 1


def test_parameters_have_entries_of_their_own(cache: ScoreCache) -> None:
    """C36: two instances of one class with different parameters."""
    one, other, sample = Counter(Score(1)), Counter(Score(2)), Sample(picture(1))
    first, second = Settings(type="counter", at=1), Settings(type="counter", at=2)
    for _ in range(2):
        assert ask(cache, one, sample, first) == Score(1)
        assert ask(cache, other, sample, second) == Score(2)
    assert (one.asked, other.asked) == (1, 1)


def test_real_instances_do_not_collide(cache: ScoreCache) -> None:
    """C36 with a real metric: PSNR to the origin and to the edited image, under one cache."""
    origin, previous = picture(100), picture(120)
    sample = Sample(picture(125), origin=origin, previous=previous)
    values = []
    for against in ("origin", "previous"):
        config = EVALUATORS.configure({"type": "psnr", "against": against}, "x")
        evaluator = EVALUATORS.build(config)
        results = [cached_score(cache, evaluator, config, [sample])[0] for _ in range(2)]
        assert results[0] == results[1] == evaluator.evaluate([sample])[0]
        values.append(results[0])
    assert values[0] != values[1]


def test_version_and_type_have_entries_of_their_own(cache: ScoreCache) -> None:
    sample, evaluators = Sample(picture(1)), [Counter(Score(1)), Counter(Score(2), version="2")]
    assert [ask(cache, one, sample) for one in evaluators] == [Score(1), Score(2)]
    assert ask(cache, Counter(Score(3)), sample, Settings(type="elsewhere:Counter")) == Score(3)


IMAGES = st.sampled_from([f"{digit}" * 64 for digit in "abc"])
INPUTS = st.builds(
    Inputs, IMAGES, *[st.none() | IMAGES] * 3, st.lists(IMAGES, max_size=2).map(tuple), st.none() | st.text(max_size=2)
)


@given(INPUTS, INPUTS)
def test_what_is_not_looked_at_is_not_in_the_key(one: Inputs, other: Inputs) -> None:
    facts = Facts("x", "1", "higher", (0, 1), needs=frozenset({"candidate", "previous", "instruction"}))
    seen = [(each.candidate, each.previous, each.instruction) for each in (one, other)]
    keys = [score_key(Settings(type="x"), facts, each) for each in (one, other)]
    assert (keys[0] == keys[1]) == (seen[0] == seen[1])


@given(INPUTS, INPUTS)
def test_what_is_looked_at_is_in_the_key(one: Inputs, other: Inputs) -> None:
    needs: frozenset[Need] = frozenset(get_args(Need))
    facts = Facts("x", "1", "higher", (0, 1), needs=needs)
    keys = [score_key(Settings(type="x"), facts, each) for each in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


@pytest.mark.parametrize("answer", [Failed("machine", "OutOfMemoryError"), Failed("us", "range")])
def test_failures_are_never_kept(cache: ScoreCache, answer: Failed) -> None:
    evaluator, sample = Counter(answer, Score(0.5)), Sample(picture(1))
    assert [ask(cache, evaluator, sample) for _ in range(3)] == [answer, Score(0.5), Score(0.5)]
    assert evaluator.asked == 2


def test_that_an_image_has_no_score_is_kept(cache: ScoreCache) -> None:
    evaluator, sample = Counter(Unscored("flat", "one level", ("remark",))), Sample(picture(1))
    assert ask(cache, evaluator, sample) == ask(cache, evaluator, sample) == Unscored("flat", "one level", ("remark",))
    assert evaluator.asked == 1


@pytest.mark.parametrize("facts", [{"deterministic": False}, {"batch_invariant": False}, {"paid": True}])
def test_only_repeatable_and_free_answers_are_kept(cache: ScoreCache, facts: dict[str, Any]) -> None:
    evaluator, sample = Counter(**facts), Sample(picture(1))
    for _ in range(2):
        ask(cache, evaluator, sample)
    assert evaluator.asked == 2


def test_a_batch_asks_only_for_what_is_owed(cache: ScoreCache) -> None:
    config = EVALUATORS.configure({"type": "scripted"}, "x")
    evaluator: Evaluator = EVALUATORS.build(config)
    samples = [Sample(picture(level)) for level in (10, 20, 30, 20)]
    cached_score(cache, evaluator, config, samples[1:2])
    assert cached_score(cache, evaluator, config, samples) == evaluator.evaluate(samples)


def _write(folder: Path, start: int) -> None:
    cache = ScoreCache(folder)
    for number in range(start, start + 50):
        cache.put({f"key {number}": Score(number)}, "x", "1")
    assert cache.trouble is None
    cache.close()


def test_several_processes_write_at_once(opened: Open, tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_write, args=(tmp_path, start)) for start in (0, 25, 50)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    cache = opened(tmp_path)
    assert cache.get([f"key {number}" for number in range(100)]) == [Score(number) for number in range(100)]


def test_a_damaged_cache_begins_anew(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "scores.sqlite").write_bytes(b"no database " * 1000)
    evaluator = Counter(Score(3))
    assert [ask(opened(tmp_path), evaluator, Sample(picture(1))) for _ in range(2)] == [Score(3)] * 2
    assert evaluator.asked == 1


def test_another_layout_begins_anew(opened: Open, tmp_path: Path) -> None:
    link = sqlite3.connect(tmp_path / "scores.sqlite")
    link.execute("CREATE TABLE scores (other TEXT)")
    link.execute("PRAGMA user_version=99")
    link.close()
    cache = opened(tmp_path)
    cache.put({"key": Score(1)}, "x", "1")
    assert (cache.get(["key"]), cache.trouble) == ([Score(1)], None)


def test_a_cache_that_breaks_is_left_out(cache: ScoreCache) -> None:
    evaluator, sample = Counter(Score(4)), Sample(picture(1))
    link = sqlite3.connect(cache.path)
    link.execute("DROP TABLE scores")
    link.close()
    assert [ask(cache, evaluator, sample) for _ in range(2)] == [Score(4)] * 2
    assert evaluator.asked == 2
    assert cache.trouble is not None and "not used any more" in cache.trouble


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="TURNGATE_CACHE"):
        ScoreCache(tmp_path / "file" / "below")


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TURNGATE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "turngate"
    monkeypatch.setenv("TURNGATE_CACHE", "~/mine")
    assert cache_folder() == Path.home() / "mine"


def test_runs_share_it_when_they_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run takes its scores from the first; without `score_cache` a run computes its own."""
    monkeypatch.setenv("TURNGATE_CACHE", str(tmp_path / "cache"))
    raw = {
        "origin": "skimage:astronaut", "scenario": "replicate", "turns": 2, "editor": "scripted",
        "evaluators": {"gray": "scripted"}, "gate": "always_accept", "driver": "loop",
    }  # fmt: skip
    start_run(parse_config(raw, "test"), tmp_path / "without")
    assert not (tmp_path / "cache").exists()
    for name in ("one", "other"):
        start_run(parse_config({**raw, "score_cache": True}, "test"), tmp_path / name)
    link = sqlite3.connect(tmp_path / "cache" / "scores.sqlite")
    kept = link.execute("SELECT type, version FROM scores").fetchall()
    link.close()
    assert kept == [("scripted", "1")] * 3  # the origin and two candidates, once
    assert _values(tmp_path / "one") == _values(tmp_path / "other") == _values(tmp_path / "without")


def _values(folder: Path) -> list[tuple[int, float]]:
    link = sqlite3.connect(folder / "ledger.sqlite")
    rows = link.execute("SELECT turn, value FROM scores ORDER BY turn").fetchall()
    link.close()
    return rows


def test_a_cache_changes_no_identity() -> None:
    raw = {"origin": "skimage:astronaut", "scenario": "replicate", "editor": "codec", "gate": "always_accept"}
    config = parse_config({**raw, "evaluators": ["brisque"]}, "test")
    assert config.identity() == config.model_copy(update={"score_cache": True}).identity()
