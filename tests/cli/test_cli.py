"""The command line as users and scripts meet it, with right and with wrong input."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from jsonschema import Draft202012Validator

from turngate.cli import cli

from .program import Done

Turngate = Callable[..., Done]
Write = Callable[..., Path]


def test_run_show_list_validate_export(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    done = turngate("run", write(), "--out", "one", "--json")
    assert (done.code, done.err) == (0, "")
    numbers = done.json()
    assert (numbers["run"], numbers["status"], numbers["accepted"]) == ("one", "complete", 5)
    assert numbers["counts"] == {"gray": {"scored": 5, "unscored": 0, "failed": 0, "skipped": 0}}
    assert (tmp_path / "one" / "report.html").exists()
    shown = turngate("show", "one", "--json").json()
    assert {name: shown[name] for name in ("turns", "attempts", "forced")} == {"turns": 5, "attempts": 5, "forced": 0}
    listed = turngate("list", ".", "--json").json()
    assert [run["run"] for run in listed["runs"]] == ["one"]
    assert turngate("validate", "one", "--json").json()["valid"] is True
    lines = [json.loads(line) for line in turngate("export", "one").out.splitlines()]
    assert [line["turn"] for line in lines] == [1, 2, 3, 4, 5]
    table = list(csv.DictReader(io.StringIO(turngate("export", "one", "--format", "csv").out)))
    assert [float(row["score.gray"]) for row in table] == [line["scores"]["gray"]["value"] for line in lines]


def test_parquet(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    turngate("run", write(), "--out", "one", "--quiet")
    assert turngate("export", "one", "--format", "parquet", "--out", "rows.parquet").code == 0
    rows = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [row["turn"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[0]["decision.verdict"] == "accept"


def test_runs_go_to_a_folder_of_their_own(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    path = write()
    folders = [turngate("run", path, "--json").json()["run"] for _ in range(2)]
    assert len(set(folders)) == 2
    assert all(folder.startswith("runs/") and "-scripted-always-accept-" in folder for folder in folders)
    assert len(turngate("list", "--json").json()["runs"]) == 2


def test_running_again_in_the_same_folder(turngate: Turngate, write: Write) -> None:
    """Same configuration: nothing to do. Another one: refused with what changed (C12)."""
    turngate("run", write(), "--out", "one", "--quiet")
    again = turngate("run", write(), "--out", "one", "--quiet")
    assert (again.code, "nothing to do" in again.out) == (0, True)
    turngate("run", write(), "--out", "one", "--set", "seed=3").refused(
        2, "seed: 0 -> 3", "turngate fork one --set seed=3"
    )


def test_a_fork_goes_on_behind_the_last_closed_turn(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    turngate("run", write(turns=3), "--out", "one", "--quiet")
    turngate("resume", "one", "--set", "turns=6", "--fork").refused(2, "turngate fork RUN")
    child = turngate("fork", "one", "--set", "turns=6", "--out", "two", "--json").json()
    assert (child["run"], child["turns"]) == ("two", 6)
    parent = json.loads((tmp_path / "two" / "run.json").read_text())["parent"]
    assert parent == {"run": json.loads((tmp_path / "one" / "run.json").read_text())["run"], "turn": 3}


def test_overrides(turngate: Turngate, write: Write) -> None:
    done = turngate(
        "run", write(), "--set", "turns=2", "--set", "gate=always_reject", "--set", "on_reject.attempts=2",
        "--set", "evaluators.gray.direction=higher", "--out", "one", "--json",
    )  # fmt: skip
    assert (done.json()["turns"], done.json()["attempts"], done.json()["rejected"]) == (2, 4, 2)


def test_plain_lines_and_summary(turngate: Turngate, write: Write) -> None:
    done = turngate("run", write(truth={"measure": "psnr", "damaged_at": 20}), "--out", "one")
    assert done.code == 0
    assert "turn 5/5 accept" in done.err
    for words in ("5 accepted", "SIMULATED", "propagated", "report"):
        assert words in done.out


def test_early_endings_have_their_own_exit_codes(turngate: Turngate, write: Write) -> None:
    done = turngate("run", write(), "--set", "budgets.attempts=2", "--out", "one", "--json")
    assert (done.code, done.json()["status"]) == (10, "budget_exhausted")
    assert turngate("resume", "one", "--set", "budgets.attempts=9", "--json").code == 0
    path = write("ask.yaml", gate="always_reject", on_reject={"then": "ask_human"}, turns=1)
    assert turngate("run", path, "--out", "two", "--json").code == 11
    done = turngate("resume", "two", "--accept", "--comment", "fine", "--json")
    assert (done.code, done.json()["accepted"]) == (0, 1)


@pytest.mark.parametrize("command", cli.list_commands(click.Context(cli)))
def test_every_command_has_help(turngate: Turngate, command: str) -> None:
    done = turngate(command, "--help")
    assert done.code == 0
    assert done.out.startswith("Usage:")


def test_lists_of_parts(turngate: Turngate) -> None:
    evaluators = {part["name"]: part for part in turngate("evaluators", "--json").json()["evaluators"]}
    assert evaluators["brisque"]["better"] == "lower"
    assert evaluators["psnr"]["inputs"] == "origin"
    assert all(part["runs_here"] for part in turngate("gates", "--json").json()["gates"])
    assert "at" in {p["name"]: p for p in turngate("gates", "--json").json()["gates"]}["threshold"]["fields"]
    assert "span" in turngate("editors").out
    assert "replicate" in turngate("scenarios").out


def test_doctor(turngate: Turngate) -> None:
    found = turngate("doctor", "--json").json()
    assert found["machine"]["span model"] == "loads"
    assert turngate("doctor").code == 0


def test_new_writes_a_configuration_that_is_valid(turngate: Turngate, tmp_path: Path) -> None:
    from turngate.graphs.load import read_config

    assert turngate("new", "my.yaml").code == 0
    assert read_config(tmp_path / "my.yaml").gate.type == "threshold"
    turngate("new", "my.yaml").refused(2, "exists already")


def test_graph(turngate: Turngate, tmp_path: Path) -> None:
    text = turngate("graph").out
    assert text.startswith(("---", "graph"))
    for node in ("editor", "evaluate", "truth", "gate"):
        assert node in text
    assert turngate("graph", "--out", "g.png").code == 0
    assert (tmp_path / "g.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert turngate("graph", "--out", "g.svg").code == 0
    assert "<svg" in (tmp_path / "g.svg").read_text()
    turngate("graph", "--out", "g.gif").refused(2, ".png, .svg or .mmd")


def test_schema_describes_what_is_written(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    schema = turngate("schema").out
    schemas = json.loads(schema)
    summary = turngate("run", write(), "--out", "one", "--json").json()
    for extra in ("report", "dropped_spans", "dropped_events", "dropped_points", "worked"):
        summary.pop(extra)
    Draft202012Validator(schemas["summary"]).validate(summary)
    info = json.loads((tmp_path / "one" / "run.json").read_text())
    Draft202012Validator(schemas["run.json"]).validate(info)


def test_a_key_in_the_environment_is_written_nowhere(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    """C50: not in log, ledger, report, snapshot or output, even when the editor reports it."""
    secret = "sentinel-8c1f-key"
    editor = {"type": "scripted", "reasoning": f"I called the server with {secret}", "script": {"2": "raise"}}
    path = write(editor=editor, telemetry={"exporter": "jsonl", "capture_content": True})
    done = turngate("run", path, "--out", "one", GEMINI_API_KEY=secret)
    assert done.code == 0
    assert secret not in done.out + done.err
    for file in (tmp_path / "one").rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes(), file.name
    assert "[redacted]" in (tmp_path / "one" / "report.html").read_text()


def test_hostile_text_stays_inert_on_the_terminal(turngate: Turngate, write: Write) -> None:
    editor = {"type": "scripted", "script": {"1": "no_image:safety"}, "reasoning": "\x1b[2J\x1b]0;owned\x07"}
    done = turngate("run", write(editor=editor), "--out", "one\u202e")
    assert "\x1b" not in done.out + done.err
    assert "\u202e" not in done.out


# Wrong input: one line, who is at fault, what to do, an exit code by class, nothing left behind.


def test_no_configuration(turngate: Turngate) -> None:
    turngate("run", "none.yaml").refused(2, "no configuration at", "turngate new")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("turns: [1, 2", ["line 1", "not valid YAML"]),
        ("just a sentence", ["mapping of fields"]),
        ("\0\0\0", ["not valid YAML"]),
        ("turns: 5", ["origin", "is missing"]),
    ],
)
def test_not_a_configuration(turngate: Turngate, tmp_path: Path, text: str, words: list[str]) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    turngate("run", "bad.yaml").refused(2, "bad.yaml", *words)


def test_binary_configuration(turngate: Turngate, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe\x00\x81")
    turngate("run", "bad.yaml").refused(2, "not a text file")


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("editor.type=sapn", ["run.yaml: editor.type", "did you mean 'span'"]),
        ("evaluators.gray.type=briskue", ["evaluators.gray.type", "did you mean 'brisque'"]),
        ("gate.margn=5", ["gate.margn: no such field"]),
        ("turn=5", ["turn: no such field", "did you mean 'turns'"]),
        ("turns=0", ["turns", "greater than or equal to 1"]),
        ("turns=many", ["turns", "valid integer", "'many'"]),
        ("origin=skimage:astronot", ["did you mean 'astronaut'"]),
        ("origin=none.png", ["no image at", "none.png"]),
        ("origin=run.yaml", ["no image that Pillow"]),
        ("editor.type=no.such.Editor", ["cannot be imported"]),
        ("editor.type=os.path.join", ["is not a component"]),
        ("nonsense", ["field=value"]),
        ("on_reject.then=explode", ["on_reject.then", "'skip'"]),
        ("budgets.usd=.nan", ["budgets.usd"]),
    ],
)
def test_wrong_fields(turngate: Turngate, write: Write, tmp_path: Path, override: str, words: list[str]) -> None:
    turngate("run", write(), "--set", override, "--out", "one").refused(2, *words)
    assert not (tmp_path / "one").exists()


def test_errors_as_json(turngate: Turngate) -> None:
    done = turngate("run", "none.yaml", "--json")
    assert done.json()["error"]["fault"] == "user"
    assert done.json()["error"]["exit_code"] == done.code == 2


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"not an image at all"])
def test_not_an_image(turngate: Turngate, write: Write, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "photo.png").write_bytes(content)
    turngate("run", write(origin="photo.png"), "--out", "one").refused(2, "photo.png")


def test_unwritable_folders(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    turngate("run", write(), "--out", "file/run").refused(4, "cannot write to", "--out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.doc").write_text("years of work")
    turngate("run", write(), "--out", "full").refused(2, "thesis.doc")
    assert (tmp_path / "full" / "thesis.doc").read_text() == "years of work"


def test_no_such_run(turngate: Turngate, tmp_path: Path) -> None:
    for command in ("show", "resume", "validate", "export", "report"):
        turngate(command, "nowhere").refused(2, "no run at nowhere")
    turngate("list", "nowhere").refused(2, "no folder at nowhere")


def test_a_damaged_run_is_named(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    turngate("run", write(), "--out", "one", "--quiet")
    image = next(path for path in (tmp_path / "one" / "images").rglob("*.png"))
    image.write_bytes(b"overwritten")
    found = turngate("validate", "one", "--json")
    assert (found.code, found.json()["valid"]) == (1, False)
    assert "was changed after it was stored" in found.json()["problems"][0]
    (tmp_path / "one" / "ledger.sqlite").write_bytes(b"not a database, but long enough to be taken for one" * 100)
    turngate("show", "one").refused(4, "not a readable ledger")
    (tmp_path / "one" / "run.json").write_text("{")
    turngate("show", "one").refused(4, "run.json cannot be read")


def test_unknown_command_and_option(turngate: Turngate) -> None:
    turngate("rum").refused(2, "did you mean 'run'")
    turngate("run", "x.yaml", "--fast").refused(2, "--fast")
    turngate("fork", "x", "--turn", "two").refused(2, "--turn")
    turngate("fork").refused(2, "RUN")
