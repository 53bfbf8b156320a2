"""What `show`, `list`, `compare`, `replay` and `export` say of recorded runs whose answer is known."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len
from tests.traces.runs import HOSTILE, Writer, degraded

from turngate.picture import encode_png

from .program import Done

Turngate = Callable[..., Done]
Write = Callable[..., Path]
STRICT = {"type": "threshold", "evaluator": "brisque", "at": 40.0}
SHOWN = (
    "verdict", "editor", "truth", "progress", "exposure", "last new", "episodes", "damage", "alarms", "delay",
    "collapse", "planned", "run", "status", "turns", "attempts",
)  # fmt: skip


def stalling(path: Path, **settings: Any) -> Path:
    """Twelve turns: one sound image, then damaged ones from it that are all refused."""
    writer = Writer(path, size=16, turns=12, gate=STRICT, on_reject={"attempts": 1, "then": "skip"}, **settings)
    for turn in range(1, 13):
        refused = turn > 1
        writer.attempt(
            turn, image=encode_png(degraded(writer.origin, 0.5, turn)), damage=0.9 * refused, cost_usd=0.5,
            scores={"brisque": 50.0 if refused else 30.0}, verdict="reject" if refused else "accept",
            action="skip" if refused else "accept", status_after="complete" if turn == 12 else "running",
        )  # fmt: skip
    return writer.close()


def propagating(path: Path, damaged_from: int = 3, scores: float = 30.0, **settings: Any) -> Path:
    """Twelve turns that are all accepted."""
    writer = Writer(path, size=16, turns=12, gate={"type": "always_accept"}, **settings)
    for turn in range(1, 13):
        writer.attempt(
            turn, image=encode_png(degraded(writer.origin, 0.5, turn)), damage=0.9 * (turn >= damaged_from),
            scores={"brisque": scores + turn}, evidence={}, status_after="complete" if turn == 12 else "running",
        )  # fmt: skip
    return writer.close()


def titled(text: str) -> dict[str, str]:
    """Lines of `show` by their title."""
    lines = [line for line in text.splitlines() if not line.startswith("scores")]
    return {line[:12].strip(): line[12:] for line in lines}


def terminal(text: str) -> list[str]:
    """Lines of a terminal without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


def test_a_run_is_shown_by_its_verdict_and_the_numbers_behind_it(turngate: Turngate, tmp_path: Path) -> None:
    stalling(tmp_path / "one")
    lines = titled(turngate("show", "one").out)
    assert tuple(lines)[: len(SHOWN)] == SHOWN
    assert lines["verdict"] == "stalls: nothing new since turn 1 of 12, sound; 1 new sound image"
    assert (
        lines["progress"]
        == "1 new sound image in 12 turns: 8.33 per 100 turns, 8.33 per 100 editor calls, $6.0000 each"
    )
    assert lines["exposure"] == "a damaged image stands after 0 of 12 turns"
    assert lines["last new"] == "turn 1, stalled since"
    assert lines["episodes"] == "0 caught, 1 stalled, 0 propagated"
    assert lines["alarms"] == "0 of 1 input had a sound candidate refused"
    assert lines["planned"] == "1 progressed, 11 held"
    assert lines["cost"] == "$6.0000"
    propagating(tmp_path / "two")
    lines = titled(turngate("show", "two").out)
    assert lines["verdict"].startswith("propagates: a damaged image stands after 10 of 12 turns, from turn 3 on")
    assert (lines["damage"], lines["collapse"]) == ("first stands after turn 3", "turn 4")


def test_a_run_fits_the_terminal(turngate: Turngate, tmp_path: Path) -> None:
    propagating(tmp_path / "one")
    lines = terminal(turngate("show", "one", FORCE_COLOR="1", COLUMNS="50").out)
    assert max(map(cell_len, lines)) <= 50
    assert lines[:2] == [
        "verdict     propagates: a damaged image stands",
        "            after 10 of 12 turns, from turn 3 on;",
    ]


def test_the_json_of_a_run_has_verdict_and_answer(turngate: Turngate, tmp_path: Path) -> None:
    stalling(tmp_path / "one")
    found = turngate("show", "one", "--json").json()
    assert (found["verdict"]["kind"], found["answer"]["stalled_since"]) == ("stalls", 1)
    assert found["answer"]["episodes"] == {"caught": 0, "stalled": 1, "propagated": 0, "open": 0}
    schema = turngate("schema").json()
    known = {name: found[name] for name in schema["summary"]["properties"]}
    Draft202012Validator(schema["summary"]).validate(known)


def test_without_a_truth_nothing_is_told_of_damage(turngate: Turngate, tmp_path: Path) -> None:
    propagating(tmp_path / "one", truth=False)
    lines = titled(turngate("show", "one").out)
    assert lines["verdict"] == "not told: no truth was measured; 12 new images in 12 turns"
    assert "progress" not in lines and "exposure" not in lines
    row = turngate("list", ".").out.splitlines()[1].split()
    assert row == ["one", "complete", "12/12", "not", "told", "(SIMULATED)", "-", "-", "12", "-"]
    assert [json.loads(line)["result"] for line in turngate("export", "one", "--table", "turns").out.splitlines()] == [
        "unknown"
    ] * 12


def test_runs_are_listed_with_what_their_gates_did(turngate: Turngate, tmp_path: Path) -> None:
    stalling(tmp_path / "runs" / "strict")
    propagating(tmp_path / "runs" / "open")
    lines = turngate("list").out.splitlines()
    rows = {line.split()[0]: re.split(r"  +", line.strip()) for line in lines[:3]}
    assert rows["run"] == ["run", "status", "turns", "verdict", "progress", "exposure", "last new", "episodes"]
    assert rows["strict"][3:] == ["stalls (SIMULATED)", "8.33", "0 %", "1, stalled", "0 / 1 / 0"]
    assert rows["open"][3:] == ["propagates (SIMULATED)", "16.7", "83 %", "12", "0 / 0 / 1"]
    wide = terminal(turngate("list", FORCE_COLOR="1", COLUMNS="100").out)
    assert max(map(cell_len, wide)) <= 100 and "episodes" in wide[0], "one table"


@pytest.mark.parametrize("columns", [40, 60])
def test_a_narrow_terminal_shows_every_column(turngate: Turngate, tmp_path: Path, columns: int) -> None:
    stalling(tmp_path / "runs" / "a-run-with-a-name-as-long-as-names-of-studies-are--simulated-pro")
    lines = terminal(turngate("list", FORCE_COLOR="1", COLUMNS=str(columns)).out)
    assert max(map(cell_len, lines)) <= columns
    for title in ("status", "turns", "verdict", "progress", "exposure", "last new", "episodes"):
        assert title in "\n".join(lines)


def test_hostile_names_stay_text(turngate: Turngate, tmp_path: Path) -> None:
    """Names are no markup of the terminal's library, and no escape reaches the terminal."""
    stalling(tmp_path / "runs" / "[red]one\x1b[2J\u202e")
    propagating(tmp_path / "two", name="two")
    broken = tmp_path / "runs" / "broken\x1b]0;owned\x07"
    stalling(broken)
    (broken / "ledger.sqlite").write_bytes(b"not a database, but long enough to be taken for one" * 100)
    done = turngate("list", FORCE_COLOR="1", NO_COLOR="1", COLUMNS="100")
    assert done.code == 0, "what cannot be read is told beside the others"
    assert "[red]one [2J" in "\n".join(terminal(done.out))
    assert done.err.startswith("unreadable: runs/broken ]0;owned")
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\u200b]", "\n".join(terminal(done.out)) + done.err.replace("\n", ""))
    assert len(turngate("list", "--json").json()["unreadable"]) == 1
    info = tmp_path / "two" / "run.json"
    raw = json.loads(info.read_text())
    raw["config"]["scenario"]["notes"] = f"[/red] {HOSTILE}"
    info.write_text(json.dumps(raw))
    done = turngate("compare", "two", "runs/[red]one\x1b[2J\u202e")
    assert done.code == 0, done.err
    assert "[/red] <script>" in done.out
    assert not re.search("[\x1b\u202e\u200b]", done.out)


def test_runs_are_compared_by_what_their_gates_did(turngate: Turngate, tmp_path: Path) -> None:
    stalling(tmp_path / "a")
    propagating(tmp_path / "b")
    done = turngate("compare", "a", "b")
    first, second = done.out.splitlines()[:2]
    assert first == "A: stalls: nothing new since turn 1 of 12, sound; 1 new sound image"
    assert second.startswith("B: propagates: a damaged image stands after 10 of 12 turns")
    assert re.search(r"^answer\.exposure +0 +0\.833333 *$", done.out, re.MULTILINE), done.out
    found = turngate("compare", "a", "b", "--json").json()
    changed = {change["field"]: (change["a"], change["b"]) for change in found["outcome"]}
    assert changed["answer.episodes.stalled"] == (1, 0)
    assert changed["answer.first_damage_turn"] == (None, 3)
    assert found["b"]["verdict"]["kind"] == "propagates"


def test_a_replay_is_held_against_the_record_over_the_same_turns(turngate: Turngate, write: Write) -> None:
    """Damage comes at turn 3: a limit of 0.5 refuses that candidate, and there the record ends."""
    editor = {
        "type": "scripted", "size": 16, "script": {"1": 0.2, "2": 0.3, "3": 0.6, "4": 0.7, "5": 0.8},
        "damage": {"1": 0.0, "2": 1.0, "3": 5.0, "4": 6.0, "5": 7.0},
    }  # fmt: skip
    write(editor=editor, truth={"measure": "simulator", "damaged_at": 5})
    assert turngate("run", "run.yaml", "--out", "one", "--quiet").code == 0
    sweep = ("--set", "gate={type: threshold, evaluator: gray, at: 1}", "--sweep", "gate.at=0.5,0.9")
    done = turngate("replay", "one", *sweep, "--json")
    assert done.code == 0, done.err
    early, whole = done.json()["replays"]
    assert (early["turns"], early["covers_the_run"], early["first_change"]) == (3, False, [3, 1])
    assert (early["answer"]["exposed_turns"], early["recorded"]["exposed_turns"]) == (0, 1)
    assert early["answer"]["planned"] == early["recorded"]["planned"] == 3
    assert early["answer"]["episodes"] == {"caught": 0, "stalled": 0, "propagated": 0, "open": 1}
    assert (whole["turns"], whole["answer"]) == (5, whole["recorded"])
    out = turngate("replay", "one", *sweep).out
    rows = [re.split(r"  +", line.strip()) for line in out.splitlines()]
    assert rows[0] == [
        "gate.at", "turns", "verdict", "progress", "exposure", "last new", "episodes", "first change", "valid until",
    ]  # fmt: skip
    assert rows[1] == ["as recorded", "3", "propagates", "66.7", "33 %", "turn 3", "0 / 0 / 1"]
    assert rows[2][:8] == ["0.5", "3", "goes on", "66.7", "0 %", "turn 2", "0 / 0 / 0, 1 open", "turn 3"]
    assert rows[3] == ["as recorded", "5", "propagates", "40", "60 %", "turn 5", "0 / 0 / 1"]
    assert rows[4][-1] == "the end"
    assert "0.5: so far catches: 2 new sound images in 3 turns, exposure 0; as recorded: so far propagates" in out
    assert "0.9: propagates" in out and "as recorded: propagates" not in out, "it is the same"


def test_turns_and_episodes_are_exported(turngate: Turngate, tmp_path: Path) -> None:
    stalling(tmp_path / "one")
    turns = [json.loads(line) for line in turngate("export", "one", "--table", "turns").out.splitlines()]
    assert [row["result"] for row in turns] == ["progressed"] + ["held"] * 11
    schema = turngate("schema").json()
    for row in turns:
        row.pop("run")
        Draft202012Validator(schema["turns"]).validate(row)
    (episode,) = csv.DictReader(io.StringIO(turngate("export", "one", "--table", "episodes", "--format", "csv").out))
    assert (episode["end"], episode["turn"], episode["candidates"], episode["delay"]) == ("stalled", "2", "11", "0")
    attempts = [json.loads(line) for line in turngate("export", "one").out.splitlines()]
    assert [row["result"] for row in attempts] == ["passed"] + ["caught"] * 11, "of single candidates"


def test_a_table_without_rows_has_its_columns(turngate: Turngate, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    propagating(tmp_path / "one", damaged_from=99)
    (head,) = turngate("export", "one", "--table", "episodes", "--format", "csv").out.splitlines()
    assert head.split(",") == ["run", "input_image", "input_turn", "turn", "candidates", "end", "detected", "delay"]
    done = turngate("export", "one", "--table", "episodes", "--format", "parquet")
    assert "0 episodes written" in done.err
    assert parquet.read_table(tmp_path / "one" / "episodes.parquet").column_names == head.split(",")
