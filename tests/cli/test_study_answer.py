"""What `turngate study` prints: every arm's verdict, then the numbers in the order that every table has."""

from __future__ import annotations

import copy
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from rich.cells import cell_len
from tests.traces.runs import HOSTILE

from turngate.picture import Picture

from .program import TURNGATE, Done, call, python_path

pytestmark = pytest.mark.slow

Turngate = Callable[..., Done]
GRAY = {"type": "threshold", "evaluator": "gray", "at": 0.5}
STUDY: dict[str, Any] = {
    "name": "s",
    "question": f"Does [/red] it stall? {HOSTILE}",
    "run": {
        "scenario": "replicate", "turns": 12, "driver": "loop", "evaluators": {"gray": {"type": "scripted"}},
        "editor": {
            "type": "scripted", "size": 16,
            "script": {str(turn): 0.2 if turn < 3 else 0.6 for turn in range(1, 13)},
            "damage": {str(turn): 0.0 if turn < 3 else 5.0 + turn for turn in range(1, 13)},
        },
        "truth": {"measure": "simulator", "damaged_at": 5}, "telemetry": {"exporter": "none"},
    },
    "origins": ["skimage:coffee"],
    "arms": {"open": {"gate": "always_accept"}, "strict": {"gate": GRAY}},
    "controls": "none",
}  # fmt: skip
COLUMNS = [
    "arm", "progress", "per 100 calls", "exposure", "last new", "stalled", "episodes", "first damage", "false alarms",
    "delay", "collapse", "calls", "forced",
]  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """The study's folder after it ran, and what the command said."""
    folder = tmp_path_factory.mktemp("answered")
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY, sort_keys=False))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return folder, call(["study", "study.yaml"], folder, {**kept, "PYTHONPATH": python_path()})


@pytest.fixture
def study(finished: tuple[Path, Done], tmp_path: Path) -> Path:
    """A copy of it in the folder of the test."""
    shutil.copytree(finished[0], tmp_path, dirs_exist_ok=True)
    return tmp_path / "study.yaml"


def test_a_study_with_a_run_per_arm_is_told_in_short(finished: tuple[Path, Done]) -> None:
    done = finished[1]
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) + len(done.err.splitlines()) <= 25
    words = {line.split()[0]: line for line in reversed(lines) if line.strip()}
    assert words["strict"].split(maxsplit=1)[1] == "stalls: nothing new since turn 2 of 12, sound; 2 new sound images"
    assert "propagates: a damaged image stands after 10 of 12 turns, from turn 3 on" in words["open"]
    head = next(number for number, line in enumerate(lines) if line.startswith("arm "))
    rows = [re.split(r"  +", line.strip()) for line in lines[head : head + 3]]
    assert rows[0] == COLUMNS
    assert rows[1][:8] == ["open", "16.7", "16.7", "83 %", "turn 12", "no", "0 / 0 / 1", "turn 3"]
    assert rows[2][:8] == ["strict", "16.7", "16.7", "0 %", "turn 2", "yes", "0 / 1 / 0", "never"]
    assert "No own arm is better on both axes than strict." in done.out
    assert not any(word in done.out for word in ("Against the arm without a gate", "n-th accepted edit"))
    program = "turngate" if shutil.which("turngate") == TURNGATE else TURNGATE
    assert lines[-2:] == ["page: runs/s/index.html", f"next: {program} view runs/s"]
    assert "Does [/red] it stall? <script>" in done.out
    assert not re.search("[\x1b\u202e\u200b]", done.out)


def test_the_json_of_a_study_holds_what_the_table_shows(turngate: Turngate, study: Path) -> None:
    found = turngate("study", study, "--json").json()
    answer = found["answer"]
    assert (found["worked"], answer["base"], answer["unbeaten"]) == (False, "open", ["strict"])
    arms = {arm["arm"]: arm for arm in answer["arms"]}
    assert {name: arm["stalled"] for name, arm in arms.items()} == {"open": 0, "strict": 1}
    assert arms["open"]["exposure"]["by_origin"] == {"coffee": 10 / 12}
    assert arms["open"]["exposure"]["low"] is None, "one origin has no interval"
    (pair,) = answer["pairs"]
    assert (pair["exposure"]["value"], pair["progress"]["value"]) == (-10 / 12, 0.0)
    assert (answer["smallest_p"], answer["tests"], pair["exposure_p"]) == (None, 0, None)


@pytest.mark.parametrize("columns", [60, 100])
def test_the_table_of_a_study_fits_the_terminal(turngate: Turngate, study: Path, columns: int) -> None:
    done = turngate("study", study, "--quiet", FORCE_COLOR="1", NO_COLOR="1", COLUMNS=str(columns))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", done.out).splitlines()
    paths = ("page: ", "next: ")  # to be copied whole
    assert max(cell_len(line) for line in lines if not line.startswith(paths)) <= columns
    heads = [re.split(r"  +", line.strip()) for line in lines if line.startswith("arm ")]
    assert [title for head in heads for title in head if title != "arm"] == COLUMNS[1:], "in the same order"


def test_without_truth_or_an_arm_without_a_gate_it_says_so(turngate: Turngate, study: Path, tmp_path: Path) -> None:
    raw = copy.deepcopy(STUDY)
    raw |= {"name": "t", "arms": {"strict": {"gate": GRAY}}, "origins": ["skimage:coffee", "skimage:chelsea"]}
    raw["run"]["turns"] = 2
    study.write_text(yaml.safe_dump(raw, sort_keys=False))
    done = turngate("study", study, "--quiet")
    assert done.code == 0, done.err
    assert "How well the evaluators tell damage: not told, add a no-gate arm." in done.out
    del raw["run"]["truth"]
    raw |= {"name": "u"}
    study.write_text(yaml.safe_dump(raw, sort_keys=False))
    done = turngate("study", study, "--quiet")
    assert done.code == 0, done.err
    assert "Truth: not measured, so nothing is told of damage." in done.out
    (row,) = [line.split() for line in done.out.splitlines() if re.match(r"strict +2 +-", line)]
    assert row[2:5] == ["-", "-", "-"], "no rate without a truth"
    (verdict,) = [line for line in done.out.splitlines() if line.startswith("strict not told")]
    assert "propagates" not in verdict and "0 %" not in verdict


def test_each_axis_has_its_own_p(turngate: Turngate, tmp_path: Path) -> None:
    """Of eight pictures and two arms: one that changes exposure alone, so that only this p is small."""
    raw = copy.deepcopy(STUDY)
    raw["origins"] = {}
    for number in range(8):
        picture = Picture.from_rgb(np.full((16, 16, 3), 20 * number, dtype=np.uint8))
        (tmp_path / f"{number}.png").write_bytes(picture.data)
        raw["origins"][f"p{number}"] = f"{number}.png"
    raw["run"]["turns"] = 3
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(raw, sort_keys=False))
    done = turngate("study", "study.yaml", "--quiet")
    assert done.code == 0, done.err
    assert "Against the arm without a gate, on the same cells:" in done.out
    lines = [re.split(r"  +", line.strip()) for line in done.out.splitlines()]
    place = next(number for number, line in enumerate(lines) if "p of exposure" in line)
    row = dict(zip(lines[place], lines[place + 1], strict=True))
    assert list(row) == ["arm", "cells", "progress", "p of progress", "exposure, points", "p of exposure"]
    assert (row["arm"], row["cells"], row["p of progress"], row["p of exposure"]) == ("strict", "8", "1", "0.016")
    assert row["progress"].startswith("+0 [") and row["exposure, points"].startswith("-33.3 [")
    assert "corrected over 2 tests" in done.out and "can be reached is 0.0078; for one" in done.out
    assert "95 % interval over 8 origins" in done.out
