"""`turngate study` over a grid, as a user calls it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from turngate import RunView
from turngate.traces.lock import holder

from .program import TURNGATE, Done, call, python_path

Turngate = Callable[..., Done]
STUDY: dict[str, Any] = {
    "name": "s",
    "question": "Does the strict gate catch it?",
    "run": {
        "scenario": "replicate", "turns": 5, "driver": "loop", "evaluators": {"gray": {"type": "scripted"}},
        "editor": {
            "type": "scripted", "size": 16, "reasoning": "The replica matches the original exactly.",
            "script": {"1": 0.2, "2": 0.3, "3": 0.6, "4": 0.7, "5": 0.8},
            "damage": {"1": 0.0, "2": 1.0, "3": 5.0, "4": 6.0, "5": 7.0},
        },
        "truth": {"measure": "simulator", "damaged_at": 5},
        "telemetry": {"exporter": "none"},
    },
    "origins": ["skimage:coffee", "skimage:chelsea"],
    "arms": {"strict": {"gate": {"type": "threshold", "evaluator": "gray", "at": 0.65}}},
    "sensitivity": [6],
}  # fmt: skip


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(STUDY, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """The study's folder after it ran, and what the command said."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY, sort_keys=False))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return folder / "runs", call(["study", "study.yaml"], folder, {**kept, "PYTHONPATH": python_path()})


def test_the_plan_says_what_it_will_take_and_runs_nothing(turngate: Turngate, study: Path, tmp_path: Path) -> None:
    done = turngate("study", study, "--plan", "--json")
    assert done.code == 0, done.err
    assert (done.json()["runs"], done.json()["turns"], done.json()["paid_calls_at_most"]) == (10, 50, 0)
    assert "10 runs (1 arm and 4 controls x 2 origins)" in turngate("study", study, "--plan").out
    assert not (tmp_path / "runs").exists()


def test_the_price_of_a_paid_study_is_told_before_it_runs(turngate: Turngate, study: Path) -> None:
    raw = yaml.safe_load(study.read_text())
    raw["run"] |= {"editor": {"type": "gemini", "model": "gemini-3-pro-image"}, "turns": 100}
    raw["run"].pop("truth")
    study.write_text(yaml.safe_dump(raw, sort_keys=False))
    done = turngate("study", study, "--plan", GEMINI_API_KEY="x" * 20)
    # 2 origins x 4 arms (no oracle without a truth) x 100 calls, each 1120 image tokens at $120 per million
    assert "800 of them paid, at most $107.52" in done.out, done.err
    turngate("study", study, "--plan", GEMINI_API_KEY="", GOOGLE_API_KEY="").refused(2, "GEMINI_API_KEY")


@pytest.mark.slow
def test_a_grid_is_run_answered_and_left_alone(
    turngate: Turngate, study: Path, tmp_path: Path, finished: tuple[Path, Done]
) -> None:
    runs, done = finished
    shutil.copytree(runs, tmp_path / "runs")
    assert done.code == 0, done.err
    assert "10/10" in done.err
    for words in (
        "strict propagates in all 2 runs: a damaged image stands after 60 % of the turns",
        "always-reject * stalls in all 2 runs: no new image, the origin stands untouched",
        "2 origins: too few for intervals and p",
        "Against the arm without a gate",
        "Truth after the n-th accepted edit",
        "confident while damaged",
        "damaged at",
        "SIMULATED in 10 of 10 runs: there the damage is written by hand",
    ):
        assert words in done.out, words
    assert (tmp_path / "runs" / "s" / "index.html").exists()
    again = turngate("study", study, "--json")
    assert again.json()["worked"] is False
    arms = {arm["arm"]: arm for arm in again.json()["answer"]["arms"]}
    assert (arms["oracle"]["progress"]["value"], arms["oracle"]["exposure"]["value"]) == (40.0, 0.0)
    assert arms["no-gate"]["exposure"]["value"] == 3 / 5
    assert {run["summary"]["verdict"]["kind"] for run in again.json()["runs"] if run["arm"] == "strict"} == {
        "propagates"
    }
    assert again.json()["answer"]["reasoning"][0]["hallucinated_confidence"]["value"] == 1.0
    assert "nothing to do" in turngate("study", study).out


@pytest.mark.slow
def test_verdicts_of_people_stand_in_for_truth(
    turngate: Turngate, study: Path, tmp_path: Path, finished: tuple[Path, Done]
) -> None:
    shutil.copytree(finished[0], tmp_path / "runs")
    rows = [f"runs/s/no-gate/{origin},{turn},{'yes' if turn == 5 else 'no'}" for origin in ("coffee", "chelsea")
            for turn in range(1, 6)]  # fmt: skip
    (tmp_path / "labels.csv").write_text("run,turn,damaged\n" + "\n".join([*rows, "nowhere,1,yes"]) + "\n")
    done = turngate("study", study, "--labels", "labels.csv", "--json")
    arms = {arm["arm"]: arm for arm in done.json()["answer"]["arms"]}
    assert arms["no-gate"]["exposure"]["value"] == 1 / 5
    assert arms["strict"]["exposure"]["value"] is None, "nobody looked at its images"
    (recorded,) = done.json()["answer"]["more_truths"]
    assert next(arm for arm in recorded["arms"] if arm["arm"] == "strict")["exposure"]["value"] == 3 / 5
    assert "labels and truth disagree on 4 of 10 candidates" in turngate("study", study, "--labels", "labels.csv").out
    assert done.json()["answer"]["sensitivity"] == [], "a verdict has no threshold that could be another"
    assert "none of the runs is 'nowhere'" in turngate("study", study, "--labels", "labels.csv").err
    (tmp_path / "bad.csv").write_text("run,turn,damaged\nx,1,perhaps\n")
    turngate("study", study, "--labels", "bad.csv").refused(2, "bad.csv", "line 2")


@pytest.mark.slow
def test_a_killed_run_ends_alone(turngate: Turngate, study: Path, tmp_path: Path) -> None:
    """One process is killed in the middle: the other runs are whole, and the next call mends it."""
    raw = yaml.safe_load(study.read_text())
    killer = {"type": "killing:Killer", "mark": str(tmp_path / "mark")}
    raw |= {"arms": {"strict": raw["arms"]["strict"], "killed": {"gate": "always_accept", "editor": killer}}}
    raw |= {"controls": "none", "sensitivity": [], "origins": ["skimage:coffee"]}
    raw["run"].pop("truth")
    study.write_text(yaml.safe_dump(raw, sort_keys=False))
    (tmp_path / "killing.py").write_text(_KILLER)
    (tmp_path / "mark").touch()
    path = {"PYTHONPATH": python_path(tmp_path)}
    done = turngate("study", study, "--jobs", "2", "--quiet", **path)
    assert done.code == 4, (done.code, done.err)
    assert "its process was killed" in done.err
    (tmp_path / "mark").unlink()
    done = turngate("study", study, "--jobs", "2", "--json", **path)
    assert done.code == 0, done.err
    assert {run["summary"]["status"] for run in done.json()["runs"]} == {"complete"}


_KILLER = '''
import os, signal
from pathlib import Path
from turngate import Edited, ComponentConfig, Picture


class Config(ComponentConfig):
    """A file: while it is there, the second turn kills the process."""

    mark: str


class Killer:
    """Inverts the image."""

    Config = Config
    requires = {}
    model = "killer"
    stochastic = simulated = paid = False

    def __init__(self, config):
        self.config = config

    def edit(self, request):
        if request.turn == 2 and Path(self.config.mark).exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return Edited.of(Picture.from_rgb(255 - request.image.rgb))
'''


@pytest.mark.slow
def test_nothing_works_on_when_the_study_itself_is_killed(
    study: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The processes of its runs end too, and their runs can go on."""
    raw = yaml.safe_load(study.read_text())
    raw["run"] |= {"turns": 500, "editor": {"type": "scripted", "size": 16, "delay_seconds": 0.05}}
    raw["run"].pop("truth")
    raw |= {"controls": "none", "sensitivity": []}
    study.write_text(yaml.safe_dump(raw, sort_keys=False))
    command = [TURNGATE, "study", str(study), "--jobs", "2", "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, start_new_session=True) as process:
        runs = [tmp_path / "runs" / "s" / "strict" / origin for origin in ("coffee", "chelsea")]
        _until(lambda: all((run / "run.json").exists() for run in runs))
        process.kill()
    _until(lambda: all(holder(run) is None for run in runs))
    assert {RunView.load(run).status for run in runs} == {"interrupted"}


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.1)
