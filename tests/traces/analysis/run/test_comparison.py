"""What `turngate compare` tells of two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turngate import RunView, parse_config, start_run
from turngate.traces.analysis.run import Comparison, compare_runs


def compared(tmp_path: Path, changes: dict[str, Any]) -> Comparison:
    base: dict[str, Any] = {
        "origin": "skimage:astronaut", "scenario": "replicate", "turns": 4, "driver": "loop",
        "editor": {"type": "scripted", "size": 16, "script": {"1": 0.2, "2": 0.4, "3": 0.6, "4": 0.8}},
        "evaluators": {"gray": {"type": "scripted"}}, "gate": "always_accept", "telemetry": {"exporter": "none"},
    }  # fmt: skip
    for name, fields in (("a", {}), ("b", changes)):
        start_run(parse_config({**base, **fields}, name), tmp_path / name)
    return compare_runs(RunView.load(tmp_path / "a"), RunView.load(tmp_path / "b"))


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    found = compared(tmp_path, {"name": "another-name"})
    assert (found.config, found.made_with, found.outcome, found.parting) == ([], [], [], None)


def test_another_gate_is_told_with_the_turn_where_it_decides_otherwise(tmp_path: Path) -> None:
    found = compared(tmp_path, {"gate": {"type": "threshold", "evaluator": "gray", "at": 0.5}})
    assert [change.field for change in found.config] == ["gate"]
    assert found.parting is not None
    assert (found.parting.turn, found.parting.what, found.parting.a, found.parting.b) == (
        3,
        "decision",
        "accept",
        "skip",
    )
    assert {"accepted", "rejected"} <= {change.field for change in found.outcome}


def test_a_field_of_the_same_part_is_told_by_its_path(tmp_path: Path) -> None:
    found = compared(tmp_path, {"evaluators": {"gray": {"type": "scripted", "direction": "higher"}}})
    assert [change.field for change in found.config] == ["evaluators.gray.direction"]


def test_another_seed_parts_at_the_first_candidate(tmp_path: Path) -> None:
    found = compared(tmp_path, {"seed": 1})
    assert found.parting is not None
    assert (found.parting.turn, found.parting.what) == (1, "candidate")


def test_a_longer_run_parts_where_the_shorter_one_ends(tmp_path: Path) -> None:
    found = compared(tmp_path, {"turns": 3})
    assert found.parting is not None
    assert (found.parting.turn, found.parting.what, found.parting.b) == (4, "only in A", None)
