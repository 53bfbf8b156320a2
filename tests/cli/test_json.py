"""`--json`: every command that prints an answer has it, and prints one object and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from turngate.cli import cli

from .program import Done

Turngate = Callable[..., Done]
Write = Callable[..., Path]

WITHOUT: dict[str, str] = {}
"""Command -> why it has no `--json`; none at present."""


def test_every_command_has_the_option_or_a_reason() -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        has = any("--json" in param.opts for param in command.params)
        assert has != (name in WITHOUT), name


@pytest.fixture
def run(turngate: Turngate, write: Write) -> str:
    gate = {"type": "threshold", "evaluator": "gray", "at": 0.9}
    truth = {"measure": "psnr", "damaged_at": 2}
    assert turngate("run", write(turns=2, gate=gate, truth=truth), "--out", "one", "--quiet").code == 0
    return "one"


CALLS = [
    ("new x.yaml", "configuration"),
    ("run run.yaml --out two", "verdict"),
    ("resume one", "verdict"),
    ("fork one --turn 1 --out three", "verdict"),
    ("fork one --turn 1 --out four --no-run", "verdict"),
    ("show one", "verdict"),
    ("compare one one", "config"),
    ("list .", "runs"),
    ("report one", "page"),
    ("validate one", "valid"),
    ("replay one --set gate.at=0.5", "replays"),
    ("calibrate one --evaluator gray --alpha 0.4 --turns 2", "limit"),
    ("export one", "rows"),
    ("export one --table turns", "rows"),
    ("export one --format csv --out a.csv", "file"),
    ("export one --as frames/step_{turn}.png", "frames"),
    ("score one --with psnr", "evaluators"),
    ("score one --format csv --out scores.csv", "file"),
    ("import frames/step_{turn}.png --dry-run", "chains"),
    ("editors", "editors"),
    ("evaluators", "evaluators"),
    ("gates", "gates"),
    ("scenarios", "scenarios"),
    ("readers", "readers"),
    ("graph", "mermaid"),
    ("graph --out g.mmd", "drawing"),
    ("doctor", "machine"),
    ("doctor run.yaml", "components"),
    ("schema", "summary"),
]


def test_one_object_and_nothing_else(turngate: Turngate, run: str, tmp_path: Path) -> None:
    for call, field in CALLS:
        done = turngate(*call.split(), "--json")
        assert done.code == 0, (call, done.err)
        assert field in done.json(), (call, [*done.json()])
    rows = turngate("export", "one", "--json").json()["rows"]
    assert rows == [json.loads(line) for line in turngate("export", "one").out.splitlines()]
    assert json.loads(turngate("schema").out) == turngate("schema", "--json").json()
    assert Path(turngate("report", "one", "--json").json()["page"]).name == "report.html"
    written = turngate("export", "one", "--format", "csv", "--out", "b.csv", "--json").json()
    assert (written["count"], written["file"]) == (2, "b.csv")


def test_csv_on_standard_output_is_no_json(turngate: Turngate, run: str) -> None:
    for call in ("export one", "score one --with psnr"):
        done = turngate(*call.split(), "--format", "csv", "--json")
        assert (done.code, done.json()["error"]["fault"]) == (2, "user")
        assert "--out" in done.json()["error"]["message"]


def test_an_error_is_an_object_too(turngate: Turngate) -> None:
    for call in ("report nowhere", "export nowhere", "graph --out g.xyz", "plot nowhere --out x", "new"):
        turngate("new")
        done = turngate(*call.split(), "--json")
        assert (done.code, done.json()["error"]["exit_code"]) == (2, 2), call
