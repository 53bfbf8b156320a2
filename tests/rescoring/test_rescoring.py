"""Scores that are added afterwards: the same references as in the run, rows that are never changed, honest numbers."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from turngate import RunView
from turngate.errors import ConfigError, DamagedRun, UserError
from turngate.evaluators import EVALUATORS
from turngate.evaluators.bulk import Batcher, NamedEvaluator
from turngate.graphs.config import RunConfig
from turngate.rescoring import Rescoring, ResultCounts, choose, evaluator_configs, find, turns_in
from turngate.traces.analysis.run import read_rescored, rescored_names, with_rescored
from turngate.traces.rescored import KnownResult, ScoredRow, ScoreTable, coverage, read_scores

Config = Callable[..., RunConfig]
Run = Callable[..., tuple[Any, RunView]]


def by(raw: Any, name: str | None = None) -> NamedEvaluator:
    config = EVALUATORS.configure(raw, "x")
    return NamedEvaluator(name or config.type, config, EVALUATORS.build(config))


def rescore(
    path: Path, *evaluators: NamedEvaluator, turns: str | None = None, limit: int | None = None, **more: Any
) -> Rescoring:
    work = Rescoring(Batcher(evaluators, threads=2), **more)
    chosen = None if turns is None else turns_in(turns)
    for _ in work.run(list(find(path).targets(chosen, limit, with_history=True))):
        pass
    return work


def known(rows: list[ScoredRow]) -> dict[tuple[int | None, int | None, str], tuple[str, float | None]]:
    return {(row.turn, row.attempt, row.evaluator): (row.status, row.value) for row in rows if row.role != "composite"}


EVERY_ROLE = {
    "gray": {"type": "scripted"},
    "to_origin": {"type": "psnr"},
    "to_previous": {"type": "psnr", "against": "previous"},
    "from_first": {"type": "drift", "reference": "first"},
}


@pytest.mark.parametrize(
    ("then", "history"), [("skip", "previous"), ("rollback", "previous"), ("restart", "previous"), ("accept", "origin")]
)
def test_references_are_those_of_the_run(config: Config, run: Run, then: str, history: str) -> None:
    """A run whose gate rejects at random: every role of every attempt is what the evaluators saw live."""
    settings = config(
        origin={"image": "skimage:astronaut", "size": 128},
        turns=8,
        evaluators=EVERY_ROLE,
        gate={"type": "random", "accept_rate": 0.5},
        on_reject={"attempts": 2, "then": then},
        history=history,
        seed=4,
    )
    _, view = run(settings)
    rescore(view.folder.path, *(by(raw, name) for name, raw in EVERY_ROLE.items()))
    live = {(0, 0, name): (row.status, row.value) for name, row in view.baseline.items()}
    for attempt in view.attempts:
        for name, row in attempt.scores.items():
            live[attempt.row.turn, attempt.row.attempt, name] = (row.status, row.value)
    assert any(not attempt.taken for attempt in view.attempts)
    assert known(read_scores(view.folder.path)) == live


def test_a_composite_is_scored_too(config: Config, run: Run) -> None:
    settings = config(
        origin={"image": "skimage:astronaut", "size": 64},
        turns=2,
        evaluators={"gray": "scripted"},
        gate="always_reject",
        on_reject={"then": "accept_masked", "masking": {"threshold": 2}},
    )
    _, view = run(settings)
    composites = [attempt.made for attempt in view.attempts if attempt.made]
    rescore(view.folder.path, by("scripted", "gray"))
    rows = [row for row in read_scores(view.folder.path) if row.role == "composite"]
    assert [(row.image, row.value) for row in rows] == [
        (one.image, one.scores[0].value) for one in composites if one.image
    ]
    assert rows


def test_a_composite_of_an_earlier_attempt_keeps_its_later_scores(config: Config, run: Run) -> None:
    """Its scores are filed under the attempt whose decision made it; the candidate that it was made of shows them."""
    editor = {"type": "scripted", "size": 64, "script": {"1.1": 0.2, "1.2": "no_image:safety"}}
    settings = config(
        origin={"image": "skimage:astronaut", "size": 64}, turns=1, editor=editor, evaluators=["psnr"],
        gate="always_reject", on_reject={"attempts": 2, "then": "accept_masked"},
    )  # fmt: skip
    _, view = run(settings)
    rescore(view.folder.path, by("psnr"))
    found = read_rescored(view).evaluators
    later = with_rescored(view, found, rescored_names(found)).attempts[0]
    (now,), (then,) = later.standing_scores.values(), view.attempts[0].standing_scores.values()
    assert now.value == then.value is not None


def test_a_run_is_only_read(config: Config, run: Run) -> None:
    _, view = run(config(turns=3))
    before = {path: path.read_bytes() for path in view.folder.path.rglob("*") if path.is_file()}
    rescore(view.folder.path, by("scripted"), by("psnr"))
    after = {path: path.read_bytes() for path in view.folder.path.rglob("*") if path.is_file()}
    assert after.pop(view.folder.path / "scores.sqlite")
    assert after == before


def test_rows_are_added_and_never_changed(config: Config, run: Run) -> None:
    """C40: other settings and another version stand beside what was there; the same again is nothing to do."""
    _, view = run(config(turns=2))
    folder = view.folder.path
    assert rescore(folder, by("scripted")).added == 3
    first = {row.key: row for row in read_scores(folder)}
    assert rescore(folder, by("scripted")).added == 0
    assert rescore(folder, by({"type": "scripted", "direction": "higher"})).added == 3
    newer = by("scripted")
    newer.evaluator.facts = type(newer.facts)(**{**vars(newer.facts), "version": "2", "deterministic": False})
    assert rescore(folder, newer).added == 3
    rows = {row.key: row for row in read_scores(folder)}
    assert len(rows) == 9
    assert {key: rows[key] for key in first} == first
    assert {(row.version, row.direction) for row in rows.values()} == {("1", "lower"), ("1", "higher"), ("2", "lower")}
    assert all(not one.partial for one in coverage(folder))


def test_a_choice_of_turns_leaves_a_mark(config: Config, run: Run) -> None:
    """C40: scoring single items shows, in the coverage and in the record of the pass."""
    _, view = run(config(turns=6))
    folder = view.folder.path
    rescore(folder, by("scripted"), turns="0,2-3")
    [one] = coverage(folder)
    assert (one.looked_at, one.images, one.partial) == (3, 7, True)
    table = ScoreTable(folder / "scores.sqlite", read_only=True)
    [(asked, end)] = table.passes()
    table.close()
    assert (asked.chosen, asked.images, asked.selection) == (3, 7, {"turns": [0, 2, 3]})
    assert end is not None and (end.status, end.added) == ("complete", 3)
    assert rescore(folder, by("scripted"), limit=5).added == 2
    assert coverage(folder)[0].partial
    rescore(folder, by("scripted"))
    assert not coverage(folder)[0].partial


def test_failures_are_asked_for_again_on_request_only(tmp_path: Path) -> None:
    for number in range(3):
        Image.fromarray(np.full((8, 8, 3), number, np.uint8)).save(tmp_path / f"{number}.png")
    flaky = {"type": "scripted", "rule": "sequence", "values": ["failed:machine", 1.0, 2.0, 5.0]}
    evaluator = by(flaky)
    assert rescore(tmp_path, evaluator).counts["scripted"].by_status == {"failed": 1, "scored": 2}
    assert rescore(tmp_path, evaluator).added == 0
    again = rescore(tmp_path, evaluator, retry_failed=True)
    assert (again.added, again.counts["scripted"].by_status) == (1, {"scored": 3})
    rows = [(row.item, row.tries, row.status, row.value) for row in read_scores(tmp_path) if row.item == "0.png"]
    assert rows == [("0.png", 1, "failed", None), ("0.png", 2, "scored", 5.0)]
    assert coverage(tmp_path)[0].retried == 1


def test_another_image_of_the_same_name_has_a_row_of_its_own(tmp_path: Path) -> None:
    for level in (10, 20):
        Image.fromarray(np.full((8, 8, 3), level, np.uint8)).save(tmp_path / "x.png")
        assert rescore(tmp_path, by("scripted")).added == 1
    assert [row.value for row in read_scores(tmp_path)] == [10 / 255, 20 / 255]


def test_a_missing_image_costs_its_own_scores_only(config: Config, run: Run) -> None:
    _, view = run(config(turns=3))
    image = view.attempts[1].row.image
    assert image is not None
    view.folder.images.path(image).unlink()
    counts = rescore(view.folder.path, by("scripted"), by({"type": "psnr", "against": "previous"}, "last")).counts
    assert counts["scripted"].by_status == {"scored": 3, "failed": 1}
    assert counts["last"].by_status == {"scored": 2, "failed": 2}  # it is also what the third turn edited
    detail = next(row.detail for row in read_scores(view.folder.path) if row.status == "failed")
    assert image in detail


def test_aggregates_tell_all_counts(tmp_path: Path) -> None:
    """C42: 100 images, 10 unscored, 5 failed; the mean is that of the others and stays within their range."""
    answers = [*["unscored:parse"] * 10, *["failed:provider"] * 5, *[0.1] * 85]
    for number in range(100):
        Image.fromarray(np.full((4, 4, 3), number, np.uint8)).save(tmp_path / f"{number}.png")
    raw = {"type": "scripted", "rule": "sequence", "values": answers, "range": [0.0, 0.1]}
    told = rescore(tmp_path, by(raw)).counts["scripted"].as_dict()
    assert {name: told[name] for name in ("scored", "unscored", "failed", "skipped")} == {
        "scored": 85, "unscored": 10, "failed": 5, "skipped": 0,
    }  # fmt: skip
    assert (told["mean"], told["min"], told["max"]) == (0.1, 0.1, 0.1)
    assert told["reasons"] == {"parse": 10, "scripted": 5}


@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
def test_a_mean_never_leaves_the_range_of_its_values(values: list[float]) -> None:
    counts = ResultCounts()
    for value in values:
        counts.add(KnownResult("scored", value, None, None))
    assert counts.mean is not None and min(values) <= counts.mean <= max(values)


def test_images_come_in_natural_order(tmp_path: Path) -> None:
    names = ["step_1.png", "step_2.png", "step_10.png", "sub/step_3.PNG", "sub/²1.jpg", ".hidden.png", "notes.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    [target] = find(tmp_path).targets(None, None, False)
    assert [job.id for job in target.jobs] == [
        "step_1.png",
        "step_2.png",
        "step_10.png",
        "sub/step_3.PNG",
        "sub/²1.jpg",
    ]


def test_a_folder_of_runs_is_scored_run_by_run(config: Config, run: Run, tmp_path: Path) -> None:
    for name in ("one", "other"):
        run(config(turns=2), name)
    found = find(tmp_path)
    assert [path.name for path in found.runs] == ["one", "other"]
    assert rescore(tmp_path, by("scripted")).added == 6
    assert len(read_scores(tmp_path / "one")) == len(read_scores(tmp_path / "other")) == 3


MANIFEST = "Path,id,reference,previous,turn,note\na.png,first,o.png,,1,x\n\nsub/b.png,,o.png,a.png,2,\ngone.png,,,,3,\n"


def test_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name, level in (("a.png", 100), ("sub/b.png", 110), ("o.png", 130)):
        Image.fromarray(np.full((16, 16, 3), level, np.uint8)).save(tmp_path / name)
    (tmp_path / "list.csv").write_text(MANIFEST)
    work = rescore(tmp_path / "list.csv", by("psnr"), by({"type": "psnr", "against": "previous"}, "last"))
    assert work.counts["psnr"].by_status == {"scored": 2, "failed": 1}
    assert work.counts["last"].by_status == {"scored": 1, "unscored": 1, "failed": 1}
    rows = read_scores(tmp_path)
    assert {row.item: row.turn for row in rows} == {"first": 1, "sub/b.png": 2, "gone.png": 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("image\na.png\n", "names the column path"),
        ("path\n", "lists no images"),
        ("path,turn\na.png,x\n", r"line 2\.turn"),
        ("path\na.png\na.png\n", "line 3: a.png was listed before"),
        ("path,origin\na.png,no.png\n", "line 2: origin: no image at"),
        ("path\na.png,b.png\n", "2 cells under 1 columns"),
        ('path\n"a.png\n', "line 2"),
    ],
)
def test_a_manifest_that_is_wrong_is_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(ConfigError, match=words):
        find(tmp_path / "list.csv")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["brisque"], ["brisque"]),
        (["brisque,niqe", "psnr", "brisque"], ["brisque", "niqe", "psnr"]),
        (["{type: psnr, align: shift}"], ["psnr"]),
        (["a={type: psnr}", "b={type: psnr, align: shift}"], ["a", "b"]),
        (["mine=psnr", "a=niqe,piqe"], ["mine", "a", "piqe"]),
        (["suite:classic"], ["brisque", "niqe", "piqe", "psnr", "ssim", "ms_ssim", "ciede2000", "geometry"]),
    ],
)
def test_names_on_the_command_line(words: list[str], names: list[str]) -> None:
    assert list(evaluator_configs(words)) == names


@pytest.mark.parametrize(
    ("words", "error", "told"),
    [
        ([], UserError, "--with"),
        (["psnr", "{type: psnr, align: shift}"], ConfigError, "two evaluators are called psnr"),
        (["mine=psnr", "mine=niqe"], ConfigError, "two evaluators are called mine"),
        (["mine=psnr,niqe", "mine={type: psnr, align: crop}"], ConfigError, "two evaluators are called mine"),
        (["mine=suite:classic"], ConfigError, "for one evaluator, as in mine=psnr"),
        (["mine="], ConfigError, "for one evaluator, as in mine=psnr"),
        (["=psnr"], ConfigError, "is no name"),
        (["mine=psnrr"], ConfigError, "did you mean 'psnr'"),
        (["{type: psnr"], ConfigError, "not valid YAML"),
        (["{align: shift}"], ConfigError, "name evaluators, suites"),
        (["nicq"], ConfigError, "did you mean 'niqe'"),
        (["{type: psnr, alig: shift}"], ConfigError, "did you mean 'align'"),
        (["psnr"], ConfigError, "psnr needs the origin: give --origin FILE, or a manifest with a column origin"),
        (
            ["{type: drift, reference: first}"],
            ConfigError,
            "drift needs the first: give a manifest with a column first",
        ),
        (["drift_chain"], ConfigError, "drift_chain needs the history: a run has that, or a manifest"),
    ],
)
def test_wrong_names_are_told(words: list[str], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        choose(words, frozenset({"candidate"}), skip_missing=False)


def test_what_cannot_score_may_be_left_out() -> None:
    choice = choose(["suite:classic"], frozenset({"candidate"}), skip_missing=True)
    assert [one.name for one in choice.evaluators] == ["brisque", "niqe", "piqe"]
    assert "--origin" in choice.left_out["ssim"]
    with pytest.raises(UserError, match="none of these evaluators"):
        choose(["psnr"], frozenset({"candidate"}), skip_missing=True)


@pytest.mark.parametrize("text", ["", "x", "1-", "-3", "1..3", "1,,2"])
def test_turns_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match="--turns"):
        turns_in(text)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("CREATE TABLE photos (name TEXT)", "another database"),
        ("CREATE TABLE scores (key TEXT PRIMARY KEY, result TEXT)", "another database"),  # a score cache of before
        ("PRAGMA application_id=1", "another database"),
        ("CREATE TABLE passes (id TEXT); PRAGMA user_version=99", "upgrade turngate"),
    ],
)
def test_a_database_that_is_none_of_ours_is_left_alone(tmp_path: Path, script: str, told: str) -> None:
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "x.png")
    path = tmp_path / "scores.sqlite"
    with closing(sqlite3.connect(path)) as link:
        link.executescript(script)
    before = path.read_bytes()
    with pytest.raises(DamagedRun, match=told) as refused:
        rescore(tmp_path, by("scripted"))
    assert "\n" not in str(refused.value) and path.read_bytes() == before
    path.write_bytes(b"no database " * 1000)
    with pytest.raises(DamagedRun, match=r"scores\.sqlite"):
        rescore(tmp_path, by("scripted"))


@pytest.mark.parametrize("version", [1, 2])
def test_a_table_from_before_it_had_a_number(tmp_path: Path, version: int) -> None:
    """It is read as it is, and gets its number when rows are added."""
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "x.png")
    rescore(tmp_path, by("scripted"))
    with closing(sqlite3.connect(tmp_path / "scores.sqlite")) as link:
        link.executescript(f"PRAGMA application_id=0; PRAGMA user_version={version}; PRAGMA journal_mode=DELETE")
    before = (tmp_path / "scores.sqlite").read_bytes()
    assert len(read_scores(tmp_path)) == 1
    assert (tmp_path / "scores.sqlite").read_bytes() == before
    assert rescore(tmp_path, by("scripted")).added == 0
    with closing(sqlite3.connect(tmp_path / "scores.sqlite")) as link:
        assert link.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"TGsc"),)


def test_a_moved_run_is_the_same_run(config: Config, run: Run, tmp_path: Path) -> None:
    _, view = run(config(turns=2))
    rescore(view.folder.path, by("scripted"))
    shutil.move(view.folder.path, tmp_path / "elsewhere")
    assert rescore(tmp_path / "elsewhere", by("scripted")).added == 0
