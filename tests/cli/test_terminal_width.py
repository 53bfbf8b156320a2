"""On a terminal of 80 columns no table and no sentence breaks a word: columns that do not fit go beneath."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from PIL import Image
from rich.cells import cell_len

from turngate.cli.columns import print_rows

from .program import Done

Turngate = Callable[..., Done]
Write = Callable[..., Path]

COMMANDS = (
    "evaluators", "evaluators --all", "gates", "editors", "scenarios", "readers", "list", "show runs/one",
    "compare runs/one runs/two", "study study.yaml --plan", "study study.yaml", "doctor", "doctor study.yaml",
    "validate runs/one", "replay runs/one --set gate.at=0.5", "replay runs/one --set gate.at=1 --sweep gate.at=0.2,0.9",
    "calibrate runs/one --evaluator gray --alpha 0.4 --turns 3", "score runs/one --with suite:classic",
    "import frames/{origin}/step_{turn}.png --dry-run",
)  # fmt: skip


@pytest.fixture
def runs(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    gate = {"type": "threshold", "evaluator": "gray", "at": 0.9}
    run = write(gate=gate, truth={"measure": "psnr", "damaged_at": 2}, turns=4)
    assert turngate("run", run, "--out", "runs/one", "--quiet").code == 0
    assert turngate("run", run, "--set", "gate=always_reject", "--out", "runs/two", "--quiet").code == 0
    shared = yaml.safe_load(run.read_text())
    shared.pop("origin")
    study = {
        "name": "s", "question": "Does the strict gate catch what the other one lets through on these pictures?",
        "run": shared, "origins": ["skimage:coffee"], "arms": {"strict-against-the-first-image": {"gate": gate}},
    }  # fmt: skip
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    assert turngate("study", "study.yaml", "--quiet").code == 0
    for turn in range(3):
        frame = tmp_path / "frames" / "a" / f"step_{turn}.png"
        frame.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (64, 64), (90, 30 * turn, 30)).save(frame)
    assert turngate("score", "runs/one", "--with", "suite:classic").code == 0


@pytest.mark.slow
def test_no_word_is_broken(turngate: Turngate, runs: None) -> None:
    for command in COMMANDS:
        plain = turngate(*command.split(maxsplit=8))
        shown = turngate(*command.split(maxsplit=8), FORCE_COLOR="1", COLUMNS="80", TERM="dumb")
        assert (plain.code, shown.code) == (0, 0), (command, plain.err)
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.out + shown.err)
        whole = {word for word in (plain.out + plain.err).split() if not word[:1].isdigit()}
        broken = {word for word in text.split() if not word[:1].isdigit()} - whole
        too_wide = [word for word in whole if cell_len(word) > 64]  # a path that is wider than a line
        assert not {word for word in broken if not any(word in path for path in too_wide)}, (command, broken)
        pasted = ("gate: ", "report ", "page: ", "next: ")  # paths and YAML to be copied stay whole
        wide = [line for line in text.splitlines() if cell_len(line) > 80 and not line.startswith(pasted)]
        assert not wide, (command, wide)


@pytest.mark.parametrize("columns", [50, 60, 80, 120])
def test_long_names_are_kept_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    row = {
        "run": "20261201-101500-span-x4-relative-1a2b",
        "what": "some words " * 9,
        "better": "lower",
    }
    print_rows([row, {**row, "run": "two"}], left=("what",))
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().out)
    assert max(map(cell_len, text.splitlines())) <= columns
    assert {*text.split()} == {*" ".join(row.values()).split(), *row, "two"}
