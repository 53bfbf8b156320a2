"""Ledger, calls, image store, lock, redaction: what must survive crashes and several writers."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.errors import DamagedRun, MachineError, NoSuchRun, RunLocked
from turngate.traces.exports import read_jsonl
from turngate.traces.images import ImageStore
from turngate.traces.ledger import Ledger, call_key, once
from turngate.traces.lock import RunLock, holder
from turngate.traces.records import AttemptRow, DecisionRow, ScoreRow, TruthRow
from turngate.traces.redact import redact


def rows(turn: int, number: int = 1, **decision: Any) -> tuple[AttemptRow, list[ScoreRow], TruthRow, DecisionRow]:
    times: dict[str, Any] = {"started_ns": 1, "ended_ns": 2}
    attempt = AttemptRow(
        turn=turn, attempt=number, seed=3, instruction="copy", history="previous", input_image="0" * 64,
        input_turn=0, outcome="edited", image="1" * 64, flags=["a", "b"],
        extras=[{"image": "2" * 64, "role": "interim"}],
        **times,
    )  # fmt: skip
    score = ScoreRow(
        turn=turn, attempt=number, evaluator="q", type="brisque", version="1", status="scored", value=-9.8,
        direction="lower", components={"noise": 0.5}, **times,
    )  # fmt: skip
    truth = TruthRow(turn=turn, attempt=number, measure="psnr", value=12.5, damaged_at=20, damaged=True)
    values: dict[str, Any] = {
        "verdict": "accept", "rule": "gate", "reason": "fine", "evidence": {"value": -9.8, "why": None},
        "action": "accept", "taken_attempt": number, "image_after": "1" * 64, "image_turn_after": turn,
        "closes_turn": True, "status_after": "running", "at_ns": 3,
    }  # fmt: skip
    return attempt, [score], truth, DecisionRow(turn=turn, attempt=number, **{**values, **decision})


def test_rows_come_back_as_they_went_in(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    attempt, scores, truth, decision = rows(1)
    assert ledger.record(attempt, scores, truth, decision) == decision
    assert ledger.attempts() == [attempt]
    assert ledger.scores() == scores
    assert ledger.truths() == [truth]
    assert ledger.decisions() == [decision]
    ledger.close()


def test_first_writer_wins(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    first = rows(1)
    ledger.record(*first)
    attempt, scores, truth, _ = rows(1)
    other = rows(1, verdict="reject", reason="second thoughts")[3]
    assert ledger.record(attempt, scores, truth, other) == first[3]
    assert len(ledger.decisions()) == 1
    ledger.close()


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    attempt, scores, truth, decision = rows(1)
    broken = decision.model_copy(update={"evidence": {"value": float("nan")}})
    with pytest.raises(ValueError, match="JSON compliant"):
        ledger.record(attempt, scores, truth, broken)
    assert ledger.attempts() == []
    ledger.record(attempt, scores, truth, decision)
    assert len(ledger.attempts()) == 1
    ledger.close()


def test_threads_share_one_ledger(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    threads = [threading.Thread(target=ledger.record, args=rows(turn)) for turn in range(1, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.turn for row in ledger.decisions()] == list(range(1, 21))
    ledger.close()


def test_a_reader_does_not_change_the_file(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    ledger = Ledger(path)
    ledger.record(*rows(1))
    ledger.close()
    before = path.read_bytes()
    reader = Ledger(path, read_only=True)
    assert len(reader.attempts()) == 1
    reader.close()
    assert path.read_bytes() == before


def test_what_is_not_a_ledger_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoSuchRun, match="no ledger"):
        Ledger(tmp_path / "none.sqlite", read_only=True)
    (tmp_path / "text.sqlite").write_text("this is not a database, " * 100)
    with pytest.raises(DamagedRun, match="not a readable ledger"):
        Ledger(tmp_path / "text.sqlite", read_only=True)
    newer = sqlite3.connect(tmp_path / "newer.sqlite")
    newer.execute("PRAGMA user_version=999")
    newer.close()
    with pytest.raises(DamagedRun, match="upgrade turngate"):
        Ledger(tmp_path / "newer.sqlite")
    with closing(sqlite3.connect(tmp_path / "photos.sqlite")) as photos:
        photos.execute("CREATE TABLE attempts (name TEXT)")
        photos.execute("CREATE TABLE photos (name TEXT)")
    for read_only in (True, False):
        with pytest.raises(DamagedRun, match="not a ledger of turngate"):
            Ledger(tmp_path / "photos.sqlite", read_only=read_only)
    with pytest.raises(MachineError, match="cannot use"):
        Ledger(tmp_path / "no" / "folder" / "l.sqlite")


def test_once_calls_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    calls = []

    def call() -> dict[str, Any]:
        calls.append(1)
        return {"image": "1" * 64, "cost_usd": 0.134}

    key = call_key("edit", "run", 1, 1, ["0" * 64], {"seed": 1})
    first = once(ledger, key, "edit", 1, 1, call)
    assert once(ledger, key, "edit", 1, 1, call) == first
    assert len(calls) == 1
    ledger.close()


def test_a_call_that_raises_is_not_stored(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")

    def broken() -> dict[str, Any]:
        raise OSError("connection reset")

    with pytest.raises(OSError, match="reset"):
        once(ledger, "k", "edit", 1, 1, broken)
    assert once(ledger, "k", "edit", 1, 1, lambda: {"ok": True}).answer == {"ok": True}
    ledger.close()


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(0, 3), min_size=1), st.integers(1, 3))
def test_keys_differ_exactly_when_the_calls_do(parameters: dict[str, int], turn: int) -> None:
    key = call_key("edit", "run", turn, 1, ["x"], parameters)
    assert key == call_key("edit", "run", turn, 1, ["x"], dict(reversed(list(parameters.items()))))
    assert key != call_key("edit", "run", turn + 1, 1, ["x"], parameters)
    assert key != call_key("edit", "run", turn, 1, ["x"], {**parameters, "d": 1})
    assert key != call_key("edit", "run", turn, 1, ["y"], parameters)


def test_image_store(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images")
    name = store.put(b"bytes", "image/png")
    assert store.put(b"bytes", "image/png") == name
    assert store.get(name) == b"bytes"
    assert store.path(name) == tmp_path / "images" / name[:2] / f"{name}.png"
    other = ImageStore(tmp_path / "other")
    store.link_into(other, name)
    assert other.get(name) == b"bytes"
    store.path(name).write_bytes(b"tampered")
    with pytest.raises(DamagedRun, match="was changed"):
        store.get(name)
    with pytest.raises(DamagedRun, match="missing"):
        store.get("f" * 64)


def test_image_store_says_when_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "images").write_text("a file where the folder should be")
    with pytest.raises(MachineError, match="cannot store an image"):
        ImageStore(tmp_path / "images").put(b"x", "image/png")


def _hold(folder: str, ready: Any, leave: Any) -> None:
    with RunLock(Path(folder)):
        ready.set()
        leave.wait(30)


def test_a_second_process_is_told_who_holds_the_run(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, leave = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(str(tmp_path), ready, leave))
    process.start()
    assert ready.wait(30)
    with pytest.raises(RunLocked, match=f"process {process.pid} on"), RunLock(tmp_path):
        pass
    assert str(process.pid) in (holder(tmp_path) or "")
    process.kill()
    process.join()
    assert holder(tmp_path) is None
    with RunLock(tmp_path):
        assert str(os.getpid()) in (holder(tmp_path) or "")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key AIzaSyA1234567890abcdefghijklmnopqrstuv failed", "AIzaSyA1234567890abcdefghijklmnopqrstuv"),
        ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
        ("https://host/v1?key=tops3cret&x=1", "tops3cret"),
        ("https://user:passw0rd@host/", "passw0rd"),
        ("sk-proj-abcdefghijklmnop1234", "sk-proj-abcdefghijklmnop1234"),
    ],
)
def test_what_looks_like_a_key_is_redacted(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert "[redacted]" in redact(text)


def test_keys_of_the_environment_reach_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-42")
    ledger = Ledger(tmp_path / "l.sqlite")
    attempt, scores, truth, decision = rows(1, reason="403 for very-secret-42", evidence={"url": "x=very-secret-42"})
    scores = [scores[0].model_copy(update={"detail": "very-secret-42 is wrong"})]
    attempt = attempt.model_copy(update={"reasoning": "I used very-secret-42"})
    ledger.record(attempt, scores, truth, decision)
    ledger.close()
    assert b"very-secret-42" not in (tmp_path / "l.sqlite").read_bytes()


@given(st.integers(1, 6), st.integers(0, 400), st.booleans())
def test_a_torn_last_line_costs_only_itself(count: int, cut: int, nul: bool) -> None:
    """C11: cut anywhere in the last line, or NUL bytes after it."""
    import tempfile

    lines = [json.dumps({"turn": turn, "attempt": 1, "text": "x" * 20}) for turn in range(1, count + 1)]
    torn = lines[-1][: cut % len(lines[-1])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_bytes(("\n".join([*lines[:-1], torn])).encode() + (b"\0" * 7 if nul else b""))
        if torn:
            with pytest.warns(UserWarning, match="torn last line"):
                found = read_jsonl(path)
        else:
            found = read_jsonl(path)
    assert [row["turn"] for row in found] == list(range(1, count))


def test_nul_bytes_after_a_whole_line_cost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"turn": 1, "attempt": 1}\n{"turn": 2, "attempt": 1}\n' + b"\0" * 100)
    assert [row["turn"] for row in read_jsonl(path)] == [1, 2]


def test_a_damaged_line_in_the_middle_is_not_hidden(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"turn": 1, "attempt": 1}\n{"turn": 2, "att\n{"turn": 3, "attempt": 1}\n')
    with pytest.raises(ValueError, match="line 2"):
        read_jsonl(path)
