"""Runs that turngate 0.1.0 wrote (tests/data/run-0.1.0) are read as it read them, into the rows of today.

`as_read_then.json` holds what 0.1.0 itself made of them: summaries, thresholds, doubts, registrations, composites.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from turngate import RunView, continue_run, fork_run, frames, summarise
from turngate.agent.editors.replay.readers import read_run
from turngate.graphs.load import parse_config
from turngate.graphs.validate import validate
from turngate.pages.report.charts.run import thresholds
from turngate.pages.report.run import write_run_report
from turngate.pages.report.run.registered import registered
from turngate.pages.viewer.listing import quick_summary
from turngate.traces.analysis.failures import find_failures
from turngate.traces.analysis.run import standings, truth_doubts
from turngate.traces.exports import attempt_objects
from turngate.traces.records import AttemptRow

DATA = Path(__file__).parents[1] / "data" / "run-0.1.0"
THEN: dict[str, dict[str, Any]] = json.loads((DATA / "as_read_then.json").read_text(encoding="utf-8"))
RUNS = sorted(THEN)
VERDICTS = {
    "masked": "propagates: a damaged image stands after 4 of 6 turns, from turn 3 on; no new sound images",
    "simulated": "propagates: a damaged image stands after 1 of 3 turns, turn 1, none after turn 1; 1 new sound image",
    "added": "goes on: 3 new sound images in 3 turns, no candidate was damaged",
}
"""By hand, from the truths and decisions that the ledgers hold."""


def rows(view: RunView, up_to: int) -> list[dict[str, Any]]:
    """All that was recorded about the first turns."""
    return [
        {
            "attempt": attempt.row.comparable(),
            "decision": attempt.decision.comparable(),
            "scores": [score.comparable() for score in attempt.scores.values()],
            "truth": attempt.truth.comparable() if attempt.truth else None,
            "composite": attempt.made.comparable() if attempt.made else None,
        }
        for attempt in view.attempts
        if attempt.row.turn <= up_to
    ]


def story(view: RunView) -> list[tuple[Any, ...]]:
    """What was made and decided; the versions of metrics and their last decimals may differ."""
    return [
        (
            attempt.row.turn, attempt.row.attempt, attempt.row.input_image, attempt.row.image, attempt.row.seed,
            attempt.decision.verdict, attempt.decision.action, attempt.decision.image_after,
            attempt.made and (attempt.made.image, attempt.made.changed, attempt.made.why),
        )
        for attempt in view.attempts
    ]  # fmt: skip


@pytest.fixture
def masked(tmp_path: Path) -> Path:
    """A copy of the run with masked accepts that may be written to."""
    shutil.copytree(DATA / "masked", tmp_path / "masked")
    return tmp_path / "masked"


@pytest.mark.parametrize("name", RUNS)
def test_it_means_what_it_meant(name: str) -> None:
    view, then = RunView.load(DATA / name), THEN[name]
    now = summarise(view)
    same = set(type(now).model_fields) - {"run", "truth", "verdict", "answer", "final_untouched"}
    told = {key: value for key, value in now.model_dump(mode="json").items() if key in same & then["summary"].keys()}
    assert told == {key: then["summary"][key] for key in told} and len(told) >= 15
    assert now.verdict.words == VERDICTS[name]
    assert {key: [list(point) for point in line] for key, line in thresholds(view).items()} == then["thresholds"]
    assert truth_doubts([view]) == then["truth_doubts"]
    laid = registered(view, view)
    frames_ = {f"{t}.{n}": [list(f.scale), list(f.offset)] for (t, n), f in laid.frames.items()} if laid else None
    assert frames_ == then["registered"]
    found = [
        [s.turn, s.image, s.truth.value if s.truth else None, {n: r.value for n, r in s.scores.items()}]
        for s in standings(view)
    ]
    assert found == then["standings"]
    assert [attempt.outcome for attempt in view.attempts] == [one["outcome"] for one in then["attempts"]]
    assert validate(DATA / name).problems == []


def test_a_masked_accept_is_a_composite() -> None:
    """One came of no change, one of another aspect ratio, one of an attempt before; the others have no composite."""
    view = RunView.load(DATA / "masked")
    for attempt, then in zip(view.attempts, THEN["masked"]["attempts"], strict=True):
        made, kept = attempt.made, then["composite"]
        assert (made is None) == (kept is None)
        if made is None:
            continue
        assert (made.turn, made.attempt) == (attempt.row.turn, attempt.row.attempt)
        for field in ("base", "candidate", "image", "changed", "why"):
            assert getattr(made, field) == kept.get(field), field
        assert {s.evaluator: (s.value, s.version, s.type) for s in made.scores} == {
            name: (s["value"], s["version"], s["type"]) for name, s in kept.get("scores", {}).items()
        }
        assert (made.truth.value if made.truth else None) == (kept.get("truth") or {}).get("value")
    by_place = {(attempt.row.turn, attempt.row.attempt): attempt for attempt in view.attempts}
    assert by_place[4, 1].composite is by_place[4, 2].made is not None
    assert [one.why is None for one in (a.made for a in view.attempts) if one] == [False, False, True, True]


@pytest.mark.parametrize("name", RUNS)
def test_flags_of_the_truth_are_taken_apart_once(name: str) -> None:
    for attempt, then in zip(RunView.load(DATA / name).attempts, THEN[name]["attempts"], strict=True):
        if attempt.truth is not None:
            assert ("; ".join(attempt.truth.flags), attempt.truth.detail) == (then["detail"], "")


def test_numbers_of_the_truth_come_from_its_flags() -> None:
    truths = [attempt.truth for attempt in RunView.load(DATA / "simulated").attempts]
    assert [truth.components for truth in truths if truth] == [
        {},
        {"shift_x": 0.0, "shift_y": 0.0, "crop_x": 0.43, "crop_y": 0.34},
        {"shift_x": 0.0, "shift_y": 0.0, "crop_x": 0.5, "crop_y": 0.55},
    ]


@pytest.mark.parametrize("name", RUNS)
def test_the_origin_was_untouched_and_so_says_its_ceiling(name: str) -> None:
    """No flag said it then: 80 dB, 1 and 0 did, and that nothing was moved first."""
    view = RunView.load(DATA / name)
    ceilings = {"psnr": 80.0, "ssim": 1.0, "ms_ssim": 1.0, "ciede2000": 0.0}
    for row in (*view.baseline.values(), *(score for a in view.attempts for score in a.scores.values())):
        moved = any(flag.split(":")[0] in ("shifted", "cropped", "size", "resized") for flag in row.flags)
        assert row.untouched == (row.value == ceilings.get(row.type, "no ceiling") and not moved)
    assert all(row.untouched for row in view.baseline.values() if row.type in ceilings)
    if view.baseline_truth is not None:
        assert view.baseline_truth.untouched
        assert (view.truths, view.baseline_truth.name, view.baseline_more_truths) == (("truth",), "truth", {})
    assert {attempt.truth.name for attempt in view.attempts if attempt.truth} <= {"truth"}
    assert set(frames(DATA / name).truth["name"]) <= {"truth"}


def test_what_a_simulator_recorded_has_fields() -> None:
    turned, added = (RunView.load(DATA / name) for name in ("simulated", "added"))
    assert [attempt.row.operation_failed for attempt in turned.attempts] == [True, True, False]
    assert [attempt.row.object_failure for attempt in added.attempts] == ["none", "none", "replaced"]
    assert {attempt.row.object_failure for attempt in turned.attempts} == {None}
    for view, name in ((turned, "simulated"), (added, "added")):
        for attempt, then in zip(view.attempts, THEN[name]["attempts"], strict=True):
            fields = {"operation_failed", "object_failure"}
            assert attempt.row.metadata == {key: value for key, value in then["told"].items() if key not in fields}
    assert find_failures(turned).measured("mirroring") == {(1, 1): True, (2, 1): True, (3, 1): False}
    assert find_failures(added).measured("replacement") == {(1, 1): False, (2, 1): False, (3, 1): True}
    assert [one.object_failure for one in read_run(DATA / "added", everything=True).recorded][-1] == "replaced"


def test_the_json_of_an_attempt_is_read_too() -> None:
    """As a checkpoint of 0.1.0 holds it."""
    row = RunView.load(DATA / "added").attempts[2].row
    kept = {**row.model_dump(mode="json", exclude={"metadata", "object_failure", "operation_failed"})}
    assert AttemptRow.model_validate({**kept, "told": {**row.metadata, "object_failure": "replaced"}}) == row


@pytest.mark.parametrize("name", RUNS)
def test_the_viewers_list_has_the_same_numbers(name: str) -> None:
    then, listed = THEN[name]["summary"], quick_summary(DATA / name)
    for field in ("status", "turns", "cost_usd"):
        assert getattr(listed, field) == then[field], field


def test_exports_and_frames_have_the_columns_of_today() -> None:
    objects = list(attempt_objects(RunView.load(DATA / "masked")))
    assert [one["composite"] is None for one in objects] == [
        one["composite"] is None for one in THEN["masked"]["attempts"]
    ]
    assert "composite" not in objects[0]["decision"] and "told" not in objects[0]
    tables = frames(DATA)
    assert tables.composites.select("turn", "attempt").rows() == [(1, 2), (2, 2), (3, 2), (4, 2)]
    assert tables.attempts.filter(tables.attempts["object_failure"] == "replaced").select("turn").rows() == [(3,)]
    limits = [json.loads(text) for text in tables.decisions["thresholds"].to_list()]
    assert {"ssim": 0.5} in limits and {"psnr": 79.0} in limits


def test_a_report_is_written(masked: Path) -> None:
    assert "unregistered:no_match" in write_run_report(masked).read_text(encoding="utf-8")


def test_a_fork_goes_on_as_the_run_did(masked: Path, tmp_path: Path) -> None:
    parent = RunView.load(masked)
    child = fork_run(masked, 4, tmp_path / "child", parse_config(parent.info.config, "run.json"))
    continue_run(child)
    assert rows(RunView.load(child), 4) == [
        {**one, "decision": {**one["decision"], "status_after": "running"}} for one in rows(parent, 4)
    ]
    assert story(RunView.load(child)) == story(parent)
    assert validate(child).problems == []


def test_a_run_that_was_cut_goes_on_in_its_own_ledger(masked: Path) -> None:
    """Old rows and new ones lie in the same tables."""
    before = RunView.load(masked)
    link = sqlite3.connect(masked / "ledger.sqlite")
    for table in ("attempts", "scores", "truth", "decisions", "calls"):
        link.execute(f"DELETE FROM {table} WHERE turn > 3")
    link.execute("DELETE FROM events WHERE kind = 'ended'")
    link.commit()
    link.close()
    continue_run(masked)
    after = RunView.load(masked)
    assert rows(after, 3) == rows(before, 3)
    assert story(after) == story(before)
    assert validate(masked).problems == []
    tables = frames(masked)
    assert tables.composites["image"].to_list() == [one.made.image for one in after.attempts if one.made]
    assert tables.truth["flags"].null_count() == 0
