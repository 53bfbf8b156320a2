"""Components of the user's own, in a file beside the configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .program import Done

Turngate = Callable[..., Done]

GATE = """
from typing import ClassVar

from turngate.agent.gate import Decision
from turngate.component import ComponentConfig
from words_of_mine import WORD


class Config(ComponentConfig):
    paths: ClassVar = ("note",)
    note: str = ""


class MyGate:
    Config = Config
    requires = {}
    reads = frozenset()
    reads_truth = False

    def __init__(self, config):
        self.config = config

    def decide(self, scores, past):
        return Decision("accept", f"{WORD}, as {self.config.note} says")
"""


@pytest.fixture
def conf(write: Callable[..., Path], tmp_path: Path) -> Path:
    """A folder `conf` with a gate, a module that it imports, a run and a study."""
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "my_own_gate.py").write_text(GATE)
    (folder / "words_of_mine.py").write_text("WORD = 'as it should be'\n")
    write(gate={"type": "my_own_gate.MyGate", "note": "note.txt"}, turns=2, score_origin=False).rename(
        folder / "run.yaml"
    )
    return folder


def test_a_dotted_path_is_found_beside_the_configuration_and_again_by_resume(
    program: Turngate, conf: Path, tmp_path: Path
) -> None:
    assert program("run", "conf/run.yaml", "--out", "run", "--set", "budgets.attempts=1", "--quiet").code == 10
    config = json.loads((tmp_path / "run" / "run.json").read_text())["config"]
    assert config["modules"] == str(conf), "resume must know where it was"
    assert config["gate"]["note"] == str(conf / "note.txt"), "paths of such a component are relative to its file too"
    done = program("resume", "run", "--set", "budgets.attempts=9", "--json")
    assert (done.code, done.json()["accepted"]) == (0, 2), done.err
    assert program("fork", "run", "--turn", "1", "--out", "child", "--set", "budgets.attempts=9", "--json").code == 0
    rows = [json.loads(line) for line in program("export", "child").out.splitlines()]
    assert rows[1]["decision"]["reason"] == f"as it should be, as {conf / 'note.txt'} says"


def test_in_a_study_with_several_processes(program: Turngate, conf: Path) -> None:
    (conf / "study.yaml").write_text(
        "name: s\nquestion: Does it?\nrun: {origin: {image: 'skimage:astronaut', size: 64}, scenario: replicate,\n"
        "  turns: 1, editor: scripted, evaluators: []}\n"
        "arms: {one: {gate: 'my_own_gate:MyGate'}, other: {gate: always_reject}}\ncontrols: none\n"
    )
    done = program("study", "conf/study.yaml", "--jobs", "2", "--out", "out", "--json")
    assert done.code == 0, done.err
    assert program("doctor", "conf/study.yaml").code == 0
    assert program("report", "out").code == 0


def test_a_run_without_components_of_its_own_names_no_folder(
    program: Turngate, write: Callable[..., Path], tmp_path: Path
) -> None:
    write(turns=1)
    assert program("run", "run.yaml", "--out", "run", "--quiet").code == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["config"]["modules"] is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def (", "SyntaxError"),
        ("import no_such_module_xyz", "No module named 'no_such_module_xyz'"),
        ("1 / 0", "Zero"),
    ],
)
def test_a_broken_module_is_one_line(
    program: Turngate, write: Callable[..., Path], tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "my_broken.py").write_text(text)
    write(gate="my_broken.Gate")
    program("run", "run.yaml").refused(
        2, "gate.type: gate 'my_broken.Gate' cannot be imported", told, "beside the configuration"
    )
