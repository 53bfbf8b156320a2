"""The score cache between processes and between runs."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from turngate import parse_config, start_run
from turngate.evaluators import Score
from turngate.evaluators.bulk import ScoreCache

from .conftest import Open

RAW = {
    "origin": {"image": "skimage:astronaut", "size": 64}, "scenario": "replicate", "turns": 2, "editor": "scripted",
    "evaluators": {"gray": "scripted"}, "gate": "always_accept", "driver": "loop",
}  # fmt: skip


def _write(folder: Path, start: int) -> None:
    cache = ScoreCache(folder)
    for number in range(start, start + 50):
        cache.put({f"key {number}": Score(number)}, "x", "1")
    assert cache.trouble is None
    cache.close()


@pytest.mark.slow
def test_several_processes_write_at_once(opened: Open, tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_write, args=(tmp_path, start)) for start in (0, 25, 50)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    cache = opened(tmp_path)
    assert cache.get([f"key {number}" for number in range(100)]) == [
        Score(number, flags=("cached",)) for number in range(100)
    ]


def test_runs_share_it_when_they_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run takes its scores from the first; without `score_cache` a run computes its own."""
    monkeypatch.setenv("TURNGATE_CACHE", str(tmp_path / "cache"))
    start_run(parse_config(RAW, "test"), tmp_path / "without")
    assert not (tmp_path / "cache").exists()
    for name in ("one", "other"):
        start_run(parse_config({**RAW, "score_cache": True}, "test"), tmp_path / name)
    link = sqlite3.connect(tmp_path / "cache" / "score_cache.sqlite")
    kept = link.execute("SELECT type, version FROM scores").fetchall()
    link.close()
    assert kept == [("scripted", "1")] * 3  # the origin and two candidates, once
    assert _values(tmp_path / "one") == _values(tmp_path / "other") == _values(tmp_path / "without")
    assert [_flags(tmp_path / name) for name in ("without", "one", "other")] == [["[]"], ["[]"], ['["cached"]']]


def _values(folder: Path) -> list[tuple[int, float]]:
    link = sqlite3.connect(folder / "ledger.sqlite")
    rows = link.execute("SELECT turn, value FROM scores ORDER BY turn").fetchall()
    link.close()
    return rows


def _flags(folder: Path) -> list[str]:
    """Different lists of flags, but for the size: the scripted editor's images are smaller than the origin."""
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as link:
        found = [json.loads(flags) for (flags,) in link.execute("SELECT flags FROM scores ORDER BY rowid")]
    kept = ([flag for flag in flags if not flag.startswith("scored_at:")] for flags in found)
    return [*dict.fromkeys(json.dumps(flags) for flags in kept)]


@pytest.mark.parametrize("driver", ["loop", "graph"])
def test_a_run_goes_on_without_a_cache_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, driver: str
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TURNGATE_CACHE", str(tmp_path / "file" / "below"))
    ended = start_run(parse_config({**RAW, "score_cache": True, "driver": driver}, "test"), tmp_path / "run")
    assert ended.status == "complete"
    assert len(_values(tmp_path / "run")) == 3
    assert [record.name for record in caplog.records] == ["turngate.evaluators.bulk.cache"]


def test_what_is_not_repeatable_is_never_taken_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNGATE_CACHE", str(tmp_path / "cache"))
    drawn = {"gray": {"type": "scripted", "rule": "sequence", "values": [0.1, 0.2, 0.3, 0.4]}}
    for name in ("one", "other"):
        start_run(parse_config({**RAW, "evaluators": drawn, "score_cache": True}, "test"), tmp_path / name)
        assert _flags(tmp_path / name) == ["[]"]
    assert not (tmp_path / "cache").exists()


def test_instances_of_one_evaluator_do_not_collide_in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C36: the same images under the same cache, to the origin and to the image that was edited."""
    monkeypatch.setenv("TURNGATE_CACHE", str(tmp_path / "cache"))
    evaluators = {"worn": "psnr", "step": {"type": "psnr", "against": "previous"}}
    raw = {**RAW, "editor": {"type": "codec", "format": "jpeg", "quality": 20}, "evaluators": evaluators}
    for name, cached in (("without", False), ("one", True), ("other", True)):
        start_run(parse_config({**raw, "score_cache": cached}, "test"), tmp_path / name)
    told = [_by_name(tmp_path / name) for name in ("without", "one", "other")]
    assert told[0] == told[1] == told[2]
    assert told[0]["worn", 2] != told[0]["step", 2]
    assert set(_flags(tmp_path / "other")) == {'["cached"]', '["identical", "cached"]'}, "the second is the origin's"


def _by_name(folder: Path) -> dict[tuple[str, int], float]:
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as link:
        rows = link.execute("SELECT evaluator, turn, value FROM scores WHERE turn > 0").fetchall()
    return {(name, turn): value for name, turn, value in rows}
