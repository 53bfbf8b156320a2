"""A score cache that is damaged, full or cannot be written costs no score, and one line."""

from __future__ import annotations

import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from turngate.errors import MachineError
from turngate.evaluators import EvalInput, Score
from turngate.evaluators.bulk import ScoreCache, default_cache

from ._counter import Counter, ask, picture

TABLE_OF_SCORES = "CREATE TABLE scores (key TEXT PRIMARY KEY, item TEXT); CREATE TABLE passes (id TEXT PRIMARY KEY)"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("CREATE TABLE photos (name TEXT)", "another database"),
        (TABLE_OF_SCORES, "another database"),
        ("PRAGMA application_id=1", "another database"),
        ("PRAGMA user_version=99", "upgrade turngate"),
    ],
)
def test_a_database_that_is_none_of_ours_is_left_alone(tmp_path: Path, script: str, told: str) -> None:
    path = tmp_path / "score_cache.sqlite"
    with closing(sqlite3.connect(path)) as link:
        link.executescript(script)
    before = path.read_bytes()
    with pytest.raises(MachineError, match=told) as refused:
        ScoreCache(tmp_path)
    assert "\n" not in str(refused.value) and path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "score_cache.sqlite"
    path.write_bytes(b"no database " * 1000)
    with pytest.raises(MachineError, match="file is not a database"):
        ScoreCache(tmp_path)
    assert path.read_bytes() == b"no database " * 1000


def test_a_cache_that_breaks_is_left_out(cache: ScoreCache, caplog: pytest.LogCaptureFixture) -> None:
    evaluator, sample = Counter(Score(4)), EvalInput(picture(1))
    link = sqlite3.connect(cache.path)
    link.execute("DROP TABLE scores")
    link.close()
    assert [ask(cache, evaluator, sample) for _ in range(2)] == [Score(4)] * 2
    assert evaluator.asked == 2
    assert cache.trouble is not None and "not used any more" in cache.trouble
    assert [record.getMessage() for record in caplog.records] == [f"note: {cache.trouble}"]


def test_a_file_that_is_damaged_while_it_is_open(cache: ScoreCache, caplog: pytest.LogCaptureFixture) -> None:
    cache.put({f"key {number}": Score(number) for number in range(2000)}, "x", "1")
    cache.close()
    with cache.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (cache.path.stat().st_size - 4096))
    with closing(ScoreCache(cache.path.parent)) as again:
        evaluator = Counter(Score(4))
        assert [ask(again, evaluator, EvalInput(picture(level))) for level in (1, 2)] == [Score(4)] * 2
        assert again.trouble is not None and again.trouble.endswith("malformed: delete it")
    assert len(caplog.records) == 1


VOID = '{"status": "scored", "value": NaN, "label": null, "explanation": null, "components": {}}'


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "3", "{}", '{"status": "scored"}', '{"status": "skipped", "why": "no_image"}', VOID]
)
def test_a_damaged_row_is_computed_again(cache: ScoreCache, text: str) -> None:
    evaluator, sample = Counter(Score(4)), EvalInput(picture(1))
    ask(cache, evaluator, sample)
    with closing(sqlite3.connect(cache.path)) as link, link:
        link.execute("UPDATE scores SET result=?", (text,))
    results = [ask(cache, evaluator, sample) for _ in range(2)]
    assert results == [Score(4), Score(4, flags=("cached",))]
    assert (evaluator.asked, cache.trouble) == (2, None)


def test_a_full_disk_costs_the_cache_and_no_score(cache: ScoreCache, caplog: pytest.LogCaptureFixture) -> None:
    """No file may grow: what a full disk is to SQLite."""
    evaluator = Counter(Score(4, explanation="x" * 100_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, before[1]))
    try:
        results = [ask(cache, evaluator, EvalInput(picture(level))) for level in (1, 2, 3)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [result.value for result in results if isinstance(result, Score)] == [4, 4, 4]
    (record,) = caplog.records
    assert str(cache.path) in record.getMessage() and "not used any more" in record.getMessage()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="TURNGATE_CACHE"):
        ScoreCache(tmp_path / "file" / "below")


def test_a_default_cache_that_cannot_be_had_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TURNGATE_CACHE", str(tmp_path / "file" / "below"))
    assert [default_cache() for _ in range(3)] == [None] * 3
    (record,) = caplog.records
    assert record.getMessage().startswith("note: cannot use the score cache")
    assert "\n" not in record.getMessage()
