"""What a person sees while a run or a study goes on."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.cells import cell_len
from tests.cli.program import Done
from tests.fake_server.process import FakeServer, fake_server, fake_server_process

from turngate import RunView, summarise

from ._terminal import in_terminal

__all__ = ["fake_server", "fake_server_process"]

Turngate = Callable[..., Done]

SMALL = {"image": "skimage:astronaut", "size": 96}
MEASURED: dict[str, Any] = {
    "origin": SMALL,
    "editor": {"type": "codec", "format": "jpeg", "quality": 20},
    "evaluators": ["brisque", "niqe", "psnr"],
    "gate": {"type": "relative", "evaluator": "psnr", "reference": "previous", "margin": 1},
    "truth": {"measure": "psnr", "damaged_at": 27},
}


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "reasons"), [(80, False), (120, True)])
def test_the_table_fits_the_terminal(
    write: Callable[..., Path], tmp_path: Path, environment: dict[str, str], columns: int, reasons: bool
) -> None:
    written = in_terminal("run", write(turns=8, **MEASURED), "--out", "o", cwd=tmp_path, env=environment,
                          columns=columns)  # fmt: skip
    assert written.code == 0
    heads = [line for line in written.lines if line.startswith("turn  attempt")]
    assert heads, written.lines
    wanted = ["turn", "attempt", "decision", "truth", "psnr", "brisque", "niqe", *(["reason"] if reasons else [])]
    assert heads[-1].split() == wanted, "what the gate reads stands first"
    assert max(cell_len(line) for line in written.lines) <= columns
    assert any(re.match(r" +2 +1 +\w.* [\d.]+ (sound|damaged) ", line) for line in written.lines), written.lines
    assert any("turn 8 of 8" in line for line in written.lines)
    assert written.raw.rstrip().endswith("report.html") and "\x1b[?25h" in written.raw, "the cursor is back"


@pytest.mark.slow
def test_a_run_that_goes_on_tells_all_that_it_cost(
    turngate: Turngate, write: Callable[..., Path], tmp_path: Path, environment: dict[str, str], fake_server: FakeServer
) -> None:
    editor = {"type": "gemini", "base_url": fake_server.base_url}
    run = write(turns=4, origin=SMALL, editor=editor, budgets={"attempts": 2})
    assert turngate("run", run, "--out", "o", "--quiet", GEMINI_API_KEY="fake").code == 10
    written = in_terminal("resume", "o", "--set", "budgets.attempts=4", cwd=tmp_path,
                          env={**environment, "GEMINI_API_KEY": "fake"})  # fmt: skip
    total = summarise(RunView.load(tmp_path / "o")).cost_usd
    assert total
    (last,) = {
        line.split("  ")[-1].strip() for line in written.lines if "turn 4 of 4" in line and "attempt" not in line
    }
    assert last == f"turn 4 of 4, ${total:.4f}"


@pytest.mark.slow
def test_what_is_not_measured_has_no_column(
    write: Callable[..., Path], tmp_path: Path, environment: dict[str, str]
) -> None:
    written = in_terminal("run", write(turns=30, origin=SMALL), "--out", "o", cwd=tmp_path, env=environment)
    heads = {tuple(line.split()) for line in written.lines if line.startswith("turn  attempt")}
    assert heads <= {("turn", "attempt", "decision", "gray", "reason")}
    assert "truth       not measured in this run" in written.lines


@pytest.mark.slow
def test_a_low_terminal_shows_the_newest_attempts_and_how_far_it_is(
    write: Callable[..., Path], tmp_path: Path, environment: dict[str, str]
) -> None:
    written = in_terminal("run", write(turns=12, **MEASURED), "--out", "o", cwd=tmp_path, env=environment, rows=9)
    assert not any(line.strip() == "..." for line in written.lines), "nothing was cut off"
    assert any("turn 12 of 12" in line for line in written.lines)


@pytest.mark.slow
@pytest.mark.parametrize("term", ["dumb", None])
def test_elsewhere_there_are_plain_lines(
    turngate: Turngate, write: Callable[..., Path], tmp_path: Path, environment: dict[str, str], term: str | None
) -> None:
    out = "a-rather-long-name-of-a-folder/" * 4 + "run"
    command = ("run", write(turns=3, **MEASURED), "--out", out)
    if term is None:
        text = turngate(*command, FORCE_COLOR="1").err
    else:
        text = in_terminal(*command, cwd=tmp_path, env=environment, term=term).raw
    assert "\x1b[?25l" not in text and "\x1b[2K" not in text
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.splitlines()]
    assert lines[0].startswith(out) and lines[0].endswith("gate relative"), "nobody wraps a line in a log"
    assert [line.split(" ")[1] for line in lines if line.startswith("turn ")] == ["1/3", "2/3", "3/3"]


@pytest.mark.slow
def test_names_do_nothing_to_the_terminal(
    write: Callable[..., Path], tmp_path: Path, environment: dict[str, str]
) -> None:
    name = "x\x1b]0;owned\x07\x1b[41m\u202egnp"
    written = in_terminal("run", write(turns=2, origin=SMALL), "--out", name, cwd=tmp_path, env=environment)
    assert written.code == 0
    assert not {"\x1b]", "\x07", "\x1b[41m", "\u202e"} & set(re.findall("\x1b.|\x07|\u202e", written.raw))


@pytest.mark.slow
def test_a_study_is_counted_in_turns(
    turngate: Turngate, write: Callable[..., Path], tmp_path: Path, environment: dict[str, str]
) -> None:
    study = {
        "name": "many", "question": "?", "repeats": 2,
        "run": yaml.safe_load(write(turns=5, origin=SMALL).read_text()),
        "arms": {"one": {"gate": "always_accept"}},
    }  # fmt: skip
    del study["run"]["gate"]
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study))
    written = in_terminal("study", path, cwd=tmp_path, env=environment)
    assert written.code == 0
    assert any(re.search(r"\d of 8 runs .* \d+ of 40 turns", line) for line in written.lines), written.lines
    answer = written.lines[written.lines.index("?") :]
    assert max(cell_len(line) for line in answer) <= 80
    assert [line.split()[-1] for line in answer if line.startswith("arm ")] == ["stalled", "calls", "forced"], (
        "three tables"
    )
    lines = [line for line in turngate("study", path, "--out", "again").err.splitlines() if " again/" in line]
    assert [line.split("/")[0] for line in lines] == [str(number) for number in range(1, 9)]


HOSTILE = "\x1b]0;title\x07\x9b31m\u202eright to left\r"


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_export_cannot_steer_the_terminal_and_a_file_keeps_what_was_written(
    turngate: Turngate, write: Callable[..., Path], tmp_path: Path, environment: dict[str, str], kind: str
) -> None:
    steps = [{"instructions": [f"Say {HOSTILE}hello"], "type": "custom", "cycle": True}]
    run = write(turns=1, origin=SMALL, scenario=steps[0])
    assert turngate("run", run, "--out", "o", "--quiet").code == 0
    written = in_terminal("export", "o", "--format", kind, cwd=tmp_path, env=environment)
    assert not set(written.raw) & {"\x1b", "\x07", "\x9b", "\u202e"}, written.raw
    assert r"Say \u001b]0;title\u0007\u009b31m\u202eright to left\rhello" in written.raw
    piped = turngate("export", "o", "--format", kind).out
    assert turngate("export", "o", "--format", kind, "--out", "file").code == 0
    kept = (tmp_path / "file").read_text(encoding="utf-8")
    assert piped.split() == kept.split()
    assert ("\x9b31m\u202eright" in kept) and (kind == "jsonl" or "\x1b]0;title" in kept)
