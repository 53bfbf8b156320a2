"""Runs as data frames."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from turngate import RunView, frames, parse_config, start_run
from turngate.errors import MissingExtra, NoSuchRun
from turngate.graphs.study.plan import read_study

RUN: dict[str, Any] = {
    "origin": "skimage:astronaut", "scenario": "replicate", "turns": 3, "driver": "loop",
    "editor": {"type": "scripted", "size": 16, "script": {"2": "no_image:safety"}},
    "evaluators": {"gray": {"type": "scripted"}}, "gate": "always_accept", "telemetry": {"exporter": "none"},
}  # fmt: skip


def test_every_row_of_a_run_is_there_with_its_type(tmp_path: Path) -> None:
    start_run(parse_config(RUN, "test"), tmp_path / "run")
    found = frames(tmp_path / "run")
    view = RunView.load(tmp_path / "run")
    assert found.attempts["image"].to_list() == [attempt.row.image for attempt in view.attempts]
    assert found.attempts["outcome"].to_list() == ["edited", "no_image", "edited"]
    assert found.scores.filter(pl.col("turn") == 0)["status"].to_list() == ["scored"], "the origin is turn 0"
    assert found.scores["status"].to_list().count("skipped") == 1
    assert found.scores["value"].null_count() == 1, "no score is null, never 0"
    assert found.decisions["closes_turn"].to_list() == [True, True, True]
    assert found.decisions.schema["closes_turn"] == pl.Boolean
    assert found.attempts["run"].unique().to_list() == [view.info.run]


def test_many_runs_stand_below_each_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        start_run(parse_config({**RUN, "seed": ord(name)}, name), tmp_path / "runs" / name)
    found = frames(tmp_path / "runs")
    assert found.attempts.group_by("run").len()["len"].to_list() == [3, 3]


def test_runs_of_a_study_carry_arm_and_cell(tmp_path: Path) -> None:
    from contextlib import nullcontext

    import yaml

    from turngate.graphs.study import run_study

    raw = {"name": "s", "question": "?", "run": {key: RUN[key] for key in RUN if key != "gate"}, "repeats": 2,
           "arms": {"yes": {"gate": "always_accept"}}, "controls": ["always-reject"]}  # fmt: skip
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(raw))
    list(run_study(read_study(tmp_path / "s.yaml"), tmp_path / "out", lambda name, path: nullcontext(())))
    found = frames(tmp_path / "out")
    accepted = found.decisions.group_by("arm", "repeat").agg((pl.col("action") == "accept").sum()).sort("arm", "repeat")
    assert accepted.rows() == [("always-reject", 1, 0), ("always-reject", 2, 0), ("yes", 1, 2), ("yes", 2, 2)]


def test_turns_and_episodes_are_frames_too(tmp_path: Path) -> None:
    """Of each run by itself; a run without an episode has none, and loses no column."""
    damage = {str(turn): 0.0 if turn < 2 else 9.0 for turn in range(1, 4)}
    editor = {"type": "scripted", "size": 16, "damage": damage}
    raw = {**RUN, "editor": editor, "truth": {"measure": "simulator", "damaged_at": 5}}
    refuses = {"gate": {"type": "oracle"}, "on_reject": {"attempts": 2, "then": "skip"}}
    start_run(parse_config({**raw, **refuses}, "a"), tmp_path / "runs" / "a")
    start_run(parse_config({**raw, "editor": {**editor, "damage": {}}}, "b"), tmp_path / "runs" / "b")
    found = frames(tmp_path / "runs")
    names = {RunView.load(tmp_path / "runs" / name).info.run: name for name in ("a", "b")}
    turns = found.turns.with_columns(pl.col("run").replace_strict(names)).sort("run", "turn")
    assert turns.filter(pl.col("run") == "a")["result"].to_list() == ["progressed", "held", "held"]
    assert turns.filter(pl.col("run") == "a")["calls"].to_list() == [1, 2, 2]
    assert turns.schema["damaged"] == pl.Boolean and turns.schema["turn"] == pl.Int64
    (episode,) = found.episodes.to_dicts()
    assert names[episode["run"]] == "a"
    assert (episode["turn"], episode["candidates"], episode["end"], episode["delay"]) == (2, 4, "stalled", 0)
    alone = frames(tmp_path / "runs" / "b").episodes
    assert alone.height == 0 and alone.columns == found.episodes.columns


def test_every_row_says_which_components_it_came_from(tmp_path: Path) -> None:
    """Types before the columns, and every setting of every run in a frame of its own."""
    gates: dict[str, Any] = {"yes": "always_accept", "limit": {"type": "threshold", "evaluator": "gray", "at": 0.6}}
    for name, gate in gates.items():
        start_run(parse_config({**RUN, "gate": gate}, name), tmp_path / name)
    found = frames(tmp_path)
    assert found.scores.columns[:4] == ["run", "editor", "scenario", "gate"]
    assert set(found.scores.group_by("gate").len()["gate"]) == {"always_accept", "threshold"}
    runs = found.runs.sort("gate")
    assert runs["config.gate.at"].to_list() == [None, 0.6]
    assert runs["config.evaluators.gray.type"].to_list() == ["scripted"] * 2
    assert runs["status"].to_list() == ["complete"] * 2 and runs["turns"].to_list() == [3, 3]
    assert runs["calls"].sum() == found.attempts.height


def test_a_folder_without_runs_says_so(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(NoSuchRun, match="check the path"):
            frames(path)


def test_without_polars_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"turngate\[frames\]"):
        frames(tmp_path)
