"""Scores that were made after a run: on its page and in its study, marked, counted, and never among the gate's own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.pages.page import Page
from tests.traces.runs import HOSTILE, Writer, degraded, study_of

from turngate import RunView, parse_config, start_run
from turngate.pages.report.run import write_run_report
from turngate.pages.report.study import write_study_page
from turngate.picture import encode_png
from turngate.traces.analysis.run import MARK, read_rescored, summarise
from turngate.traces.analysis.study import StudyAnswer, StudyView, answer_study, load_study
from turngate.traces.rescored import ScoredRow, ScoreTable, read_scores
from turngate.traces.run_folder import find_runs

from ._rescored import score


def damaged_run(path: Path, turns: int = 4, **settings: Any) -> Path:
    """Damage that grows by 0.2 a turn, all of it accepted."""
    writer = Writer(path, size=64, turns=turns, **settings)
    for turn in range(1, turns + 1):
        picture = encode_png(degraded(writer.origin, 0.2 * turn, turn))
        writer.attempt(turn, image=picture, scores=dict.fromkeys(writer.evaluators, 30), damage=0.2 * turn)
    return writer.close()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return damaged_run(tmp_path / "run")


def curve(page: Page, place: str) -> dict[str, Any]:
    """Name of a trace -> the trace."""
    return {trace.get("name", "line"): trace for trace in page.data("figures")[place]["data"]}


def test_a_run_that_was_not_scored_again_has_no_such_section(run: Path) -> None:
    page = Page(write_run_report(run))
    assert "afterwards" not in page.words()
    assert not [place for place in page.data("figures") if place.startswith("later")]


def test_scores_are_shown_with_mark_direction_and_counts(run: Path) -> None:
    score(run, "psnr", "niqe")
    page = Page(write_run_report(run))
    words = page.words()
    values = [row.value for row in read_scores(run) if row.evaluator == "psnr" and row.turn]
    mean = f"{sum(value or 0 for value in values) / 4:.4g}"
    assert f"psnr (scored afterwards) ↑ higher is better 4 scored (mean {mean}), 0 unscored" in words
    assert "niqe (scored afterwards) ↓ lower is better 0 scored, 4 unscored" in words
    assert "niqe (scored afterwards) gave no score for 4 candidates: 4 unscored (too_small 4), 0 failed." in words
    assert "unscored: too_small" in words
    assert words.count("Scored afterwards: the gate saw none of these") == 4, "in the table of every attempt"
    assert "Scored afterwards begun evaluators asked for ended with" in words
    assert "psnr, version 3, against origin · align none; niqe, version" in words
    assert "all 5 images complete, 10 results added turngate 0" in words


def test_the_gates_own_scores_threshold_and_counts_stay_what_they_were(run: Path) -> None:
    before = Page(write_run_report(run))
    summary = summarise(RunView.load(run))
    score(run, "brisque", "psnr")
    after = Page(write_run_report(run))
    assert summarise(RunView.load(run)) == summary
    for place, figure in before.data("figures").items():
        assert after.data("figures")[place] == figure
    assert "threshold 40" in curve(after, "score-1")
    assert [name for name in curve(after, "rescored-1") if "threshold" in name] == [], "no gate decided by these"


def test_a_part_is_said_to_be_one(run: Path) -> None:
    score(run, "psnr", turns="0-1,3")
    score(run, "brisque", "ssim", turns="0-1")
    page = Page(write_run_report(run))
    words = page.words()
    assert "psnr (scored afterwards) looked at a part only: 3 of 5 images, turns 0 to 1, 3." in words
    assert "brisque, ssim (scored afterwards) looked at a part only: 2 of 5 images" in words, "one line for both"
    assert "3 of 5 images (turns 0 to 1, 3)" in words, "so says the pass"
    assert curve(page, "rescored-1")["skipped"]["x"] == [2.0, 4.0], (
        "what was not looked at is no gap that looks like a value"
    )
    assert "not asked" in words and "3 of 5 images, turns 0 to 1, 3: 2 scored (mean " in words
    score(run, "psnr", "brisque", "ssim")
    whole = Page(write_run_report(run)).words()
    assert "looked at a part only" not in whole and "8 results added" in whole


def test_settings_and_versions_of_one_evaluator_stay_apart(run: Path) -> None:
    score(run, "psnr")
    score(run, {"type": "psnr", "align": "shift"})
    table = ScoreTable(run / "scores.sqlite")
    plain = [row for row in table.scores() if row.parameters == table.passes()[0][0].evaluators[0]["parameters"]]
    table.add([row.model_copy(update={"key": f"x{row.key}", "version": "99"}) for row in plain])
    table.close()
    words = Page(write_run_report(run)).words()
    for name in ("psnr 3 align none", "psnr 3 align shift", "psnr 99"):
        assert f"{name}{MARK} ↑ higher is better" in words


def test_a_name_of_its_own_for_the_same_evaluator_is_one_curve(run: Path) -> None:
    score(run, "psnr", turns="0-2", name="mine")
    score(run, "psnr", name="yours")
    [one] = read_rescored(RunView.load(run)).evaluators
    assert one.given == "mine" and not one.partial


def test_the_latest_answer_about_an_image_stands(run: Path) -> None:
    score(run, "psnr")
    table = ScoreTable(run / "scores.sqlite")
    row = next(row for row in table.scores() if row.turn == 2)
    table.add([row.model_copy(update={"key": "again", "value": 1.5, "tries": 2, "started_ns": row.started_ns + 1})])
    table.close()
    assert 1.5 in curve(Page(write_run_report(run)), "rescored-1")["accepted: passed"]["y"]


def test_images_that_are_not_the_runs_and_files_that_cannot_be_read_are_told(run: Path) -> None:
    score(run, "psnr")
    table = ScoreTable(run / "scores.sqlite")
    row = next(row for row in table.scores() if row.turn == 2)
    table.add([row.model_copy(update={"key": "other", "image": "0" * 64, "value": 99.0})])
    table.close()
    words = Page(write_run_report(run)).words()
    assert "1 score that was made afterwards belongs to other images than those of this run: left out." in words
    (run / "scores.sqlite").write_bytes(b"no database at all, but long enough for one")
    words = Page(write_run_report(run)).words()
    assert "What was scored afterwards cannot be shown:" in words and "propagated" in words


def test_hostile_text_of_a_score_is_inert(run: Path) -> None:
    score(run, "psnr")
    table = ScoreTable(run / "scores.sqlite")
    row = next(row for row in table.scores() if row.turn == 1)
    fields = {"evaluator": HOSTILE, "type": HOSTILE, "explanation": HOSTILE, "label": HOSTILE, "flags": [HOSTILE]}
    table.add([row.model_copy(update={"key": "hostile", **fields})])
    table.close()
    page = Page(write_run_report(run))
    assert not [attrs for _, attrs in page.elements if "onerror" in attrs]
    assert "[U+202E]gnp.exe" in page.text and "\u202e" not in page.text


def test_a_pass_over_the_first_images_says_so(run: Path) -> None:
    score(run, "psnr", limit=2)
    words = Page(write_run_report(run)).words()
    assert "2 of 5 images (the first 2)" in words and "2 of 5 images, turns 0 to 1: 1 scored" in words


def test_the_line_of_a_masked_accept_is_that_of_the_composite(tmp_path: Path) -> None:
    policy = {"attempts": 1, "then": "accept_masked", "masking": {"threshold": 2}}
    config = {
        "origin": {"image": "skimage:astronaut", "size": 64}, "scenario": "replicate", "turns": 2, "editor": "scripted",
        "evaluators": {"gray": "scripted"}, "gate": "always_reject", "on_reject": policy,
    }  # fmt: skip
    start_run(parse_config(config, "test"), tmp_path / "run")
    score(tmp_path / "run", "scripted")
    page = Page(write_run_report(tmp_path / "run"))
    rows = {(row.turn, row.role): row.value for row in read_scores(tmp_path / "run")}
    expected = [rows[0, "origin"], rows[1, "composite"], rows[2, "composite"]]
    assert rows[1, "composite"] != rows[1, "candidate"]
    for place in ("score-1", "rescored-1"):
        assert curve(page, place)["line"]["y"] == expected


def test_an_attempt_without_an_image_is_skipped(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", size=64, turns=2)
    writer.attempt(1, image=None, scores={}, verdict="reject", action="skip", evidence={})
    writer.attempt(2, image=encode_png(degraded(writer.origin, 0.2, 2)), scores={"brisque": 30, "psnr": 30})
    run = writer.close()
    score(run, "psnr")
    page = Page(write_run_report(run))
    assert curve(page, "rescored-1")["skipped"]["x"] == [1.0]
    assert re.search(r"1 scored \(mean [\d.]+\), 0 unscored, 0 failed, 1 skipped", page.words())


def arms(folder: Path, names: Sequence[str] = ("gated", "no-gate")) -> Path:
    rows = []
    for arm in names:
        for origin in ("coffee", "astronaut"):
            gate = (
                {"type": "always_accept"}
                if arm == "no-gate"
                else {"type": "threshold", "evaluator": "brisque", "at": 40}
            )
            path = damaged_run(folder / arm / origin, gate=gate)
            rows.append({"arm": arm, "origin": origin, "control": arm == "no-gate", "path": path})
    return study_of(folder, rows, "Which?")


def answer_of(folder: Path) -> StudyAnswer:
    return answer_study(load_study(StudyView.load(folder)))


def test_a_study_says_which_evaluator_would_have_caught_the_damage(tmp_path: Path) -> None:
    folder = arms(tmp_path / "study")
    before = answer_of(folder)
    score(folder, "psnr")
    answer = answer_of(folder)
    *own, later = answer.evaluators
    assert [one.model_dump() for one in own] == [one.model_dump() for one in before.evaluators], "theirs are untouched"
    assert answer.arms == before.arms and answer.pairs == before.pairs
    assert later.evaluator == f"psnr{MARK}" and later.arm == "no-gate"
    assert later.overall is not None and later.overall.auc.value == 1.0, (
        "an image with more noise is farther from its origin"
    )
    assert (later.candidates, later.of_candidates, later.counts.scored) == (8, 8, 16)
    assert later.rescored is not None and not later.rescored.partial
    assert later.rescored.type == "psnr" and later.rescored.extent == "all 20 images"
    assert own[0].rescored is None


def test_a_study_never_takes_a_part_for_the_whole(tmp_path: Path) -> None:
    folder = arms(tmp_path / "study")
    score(folder / "no-gate" / "coffee", "psnr", turns="1-3")
    answer = answer_of(folder)
    later = answer.evaluators[-1]
    assert later.rescored is not None and later.rescored.partial
    assert (later.candidates, later.of_candidates) == (3, 8)
    view = load_study(StudyView.load(folder))
    words = Page(write_study_page(view, answer)).words()
    assert (
        "psnr (scored afterwards) looked at a part only, 3 of 20 images in 1 of 4 runs: an AUC over 3 of 8 "
        "candidates is not that of all." in words
    )
    assert "3 of 8" in words and "Scored afterwards: no gate saw any of these" in words


def test_the_measure_of_the_truth_is_no_witness_for_itself(tmp_path: Path) -> None:
    folder = arms(tmp_path / "study", ["no-gate"])
    score(folder, "psnr", {"type": "scripted"})
    for run in find_runs(folder):
        ledger = sqlite3.connect(run / "ledger.sqlite")
        ledger.execute("UPDATE truth SET measure = 'psnr'")
        ledger.commit()
        ledger.close()
    words = Page(write_study_page(load_study(StudyView.load(folder)), answer_of(folder))).words()
    assert "psnr (scored afterwards) is what the truth is measured by: its AUC is no merit." in words
    assert "scripted (scored afterwards) is what" not in words


def test_a_studys_page_draws_them_apart(tmp_path: Path) -> None:
    folder = arms(tmp_path / "study")
    score(folder, "psnr", {"type": "scripted"})
    page = Page(write_study_page(load_study(StudyView.load(folder)), answer_of(folder)))
    figures = page.data("figures")
    assert {"rescored-1", "rescored-2"} < set(figures) and "score-3" not in figures
    roc = {trace["name"] for trace in figures["roc-1"]["data"]}
    assert {f"psnr{MARK}", f"scripted{MARK}"} < roc
    drawn = [trace["name"] for trace in figures["rescored-1"]["data"] if trace["mode"] == "lines+markers"]
    assert drawn == ["gated", "no-gate"]


def test_only_arms_that_were_scored_have_a_curve_and_others_are_not_stood_in_for(tmp_path: Path) -> None:
    folder = arms(tmp_path / "study")
    score(folder / "gated", "psnr")
    answer = answer_of(folder)
    later = answer.evaluators[-1]
    assert later.arm == "no-gate" and later.candidates == 0 and later.editors == []
    page = Page(write_study_page(load_study(StudyView.load(folder)), answer))
    drawn = [trace["name"] for trace in page.data("figures")["rescored-1"]["data"] if trace["mode"] == "lines+markers"]
    assert drawn == ["gated"]


def test_one_name_with_two_meanings_in_two_runs_is_two_evaluators(tmp_path: Path) -> None:
    folder = arms(tmp_path / "study")
    score(folder / "no-gate" / "coffee", "psnr")
    score(folder / "no-gate" / "astronaut", {"type": "psnr", "align": "shift"})
    names = [one.evaluator for one in answer_of(folder).evaluators if one.rescored]
    assert names == [f"psnr align none{MARK}", f"psnr align shift{MARK}"]


def test_a_studys_broken_file_of_scores_is_one_line(tmp_path: Path) -> None:
    folder = arms(tmp_path / "study")
    score(folder, "psnr")
    (folder / "gated" / "coffee" / "scores.sqlite").write_bytes(b"x" * 200)
    answer = answer_of(folder)
    assert [
        line for line in answer.remarks if line.startswith("gated coffee r1: what was scored afterwards is left out:")
    ]
    assert answer.evaluators[-1].candidates == 8


def test_rows_of_a_newer_kind_are_no_traceback(run: Path) -> None:
    score(run, "psnr")
    table = ScoreTable(run / "scores.sqlite")
    row = table.scores()[0]
    table.add([ScoredRow.model_construct(**{**vars(row), "key": "odd", "value": "high", "direction": "sideways"})])
    table.close()
    assert read_rescored(RunView.load(run)).trouble
