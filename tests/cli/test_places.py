"""A path of another kind than the command takes: one line that says what it is and which command is meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from .program import Done

Turngate = Callable[..., Done]
Write = Callable[..., Path]


@pytest.fixture
def places(turngate: Turngate, write: Write, tmp_path: Path) -> Path:
    """A run configuration, a study, the folder of each, and an image."""
    base = yaml.safe_load(write("my run.yaml", turns=1).read_text())
    study: dict[str, Any] = {"name": "s", "question": "Why?", "run": base, "arms": {"a": {}}, "controls": "none"}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    assert turngate("run", "my run.yaml", "--out", "runs/one", "--quiet").code == 0
    assert turngate("study", "study.yaml", "--out", "runs/s", "--quiet").code == 0
    (tmp_path / "photo.png").write_bytes(next((tmp_path / "runs/one/images").rglob("*.*")).read_bytes())
    return tmp_path


CALLS: list[tuple[str, tuple[str, ...]]] = [
    ("run study.yaml", ("study.yaml is a study:", "`turngate study study.yaml`")),
    ("run runs/one", ("the folder of a run", "`turngate resume runs/one`", "`turngate run runs/one/run.json`")),
    ("run runs/s", ("the folder of a study", "`turngate study FILE --out runs/s`")),
    ("study RUN", ("my run.yaml is the configuration of a run:", "`turngate run 'my run.yaml'`")),
    ("study runs/one", ("the folder of a run", "`turngate resume runs/one`")),
    ("study runs/s", ("the folder of a study", "--out runs/s")),
    ("study runs/s/study.json", ("the record of a study", "--out runs/s")),
    ("show runs/s", ("the folder of a study", "`turngate show runs/s/a`", "`turngate report runs/s`")),
    ("show runs", ("a folder of several runs", "`turngate show runs/one`")),
    ("show RUN", ("the configuration of a run", "`turngate run 'my run.yaml'`")),
    ("resume runs/s", ("`turngate study FILE --out runs/s`", "`turngate resume runs/s/a`")),
    ("resume RUN", ("`turngate run 'my run.yaml'`",)),
    ("replay runs/s", ("the folder of a study", "`turngate replay runs/s/a`")),
    ("compare runs/s runs/one", ("the folder of a study", "`turngate compare runs/s/a`", "`turngate report runs/s`")),
    ("compare runs/one study.yaml", ("study.yaml is a study", "`turngate study study.yaml`")),
    ("report RUN", ("`turngate run 'my run.yaml'`",)),
    ("report study.yaml", ("`turngate study study.yaml`",)),
    ("view study.yaml", ("`turngate study study.yaml`",)),
    ("view photo.png", ("an image", "give the folder that holds the runs")),
    ("export RUN", ("`turngate run 'my run.yaml'`",)),
    ("export runs/s", ("the folder of a study", "`turngate export runs/s/a`")),
    ("export study.yaml --as x/{turn}.png", ("`turngate study study.yaml`",)),
    ("score RUN --with psnr", ("`turngate run 'my run.yaml'`",)),
    ("score study.yaml --with psnr", ("`turngate study study.yaml`",)),
    ("validate RUN", ("`turngate run 'my run.yaml'`",)),
    ("validate runs/s", ("`turngate validate runs/s/a`",)),
    ("import runs/one", ("the folder of a run", "`turngate show runs/one`", "`turngate score runs/one --with NAME`")),
    ("import runs/s --layout numbered", ("the folder of a study", "`turngate report runs/s`")),
    ("import RUN", ("`turngate run 'my run.yaml'`",)),
    ("fork runs/s", ("the folder of a study", "`turngate fork runs/s/a`")),
    ("plot runs/one --out x", ("the folder of a run", "`turngate report runs/one`")),
    ("plot study.yaml --out x", ("`turngate study study.yaml`",)),
    ("list RUN", ("`turngate run 'my run.yaml'`",)),
    ("list photo.png", ("an image", "give the folder that holds the runs")),
    ("list runs/one/run.json", ("the record of a run", "give its folder, runs/one")),
    ("calibrate study.yaml --evaluator gray", ("`turngate study study.yaml`",)),
    ("doctor runs/one", ("the folder of a run", "runs/one/run.json")),
]  # fmt: skip


def test_another_command_is_named(places: Path, turngate: Turngate) -> None:
    for call, words in CALLS:
        turngate(*("my run.yaml" if word == "RUN" else word for word in call.split())).refused(2, *words)


def test_what_a_command_takes_is_taken(places: Path, turngate: Turngate) -> None:
    for call in (
        "show runs/one/run.json", "list runs/one", "list runs/s", "list runs", "report runs/s", "report runs/one",
        "validate runs/one", "doctor study.yaml", "doctor RUN", "doctor runs/one/run.json", "score runs/s --with psnr",
        "score photo.png --with niqe", "export runs/s --as frames/{turn}.png",
        "run runs/one/run.json --out two --quiet",
    ):  # fmt: skip
        done = turngate(*("my run.yaml" if word == "RUN" else word for word in call.split()))
        assert done.code == 0, (call, done.err)


def test_a_path_of_no_known_kind_is_left_to_the_command(places: Path, turngate: Turngate) -> None:
    turngate("show", "none").refused(2, "no run at none")
    turngate("show", "photo.png").refused(2, "no run at photo.png")
    turngate("run", "none.yaml").refused(2, "no configuration at none.yaml")
    turngate("study", "photo.png").refused(2, "photo.png")
    turngate("list", "none").refused(2, "no folder at none")
