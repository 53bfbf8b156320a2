"""Judges as users meet them: the program, a server in another process, and every way not to get a score."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.fake_server.process import FakeServer, fake_server, fake_server_process

from turngate import RunView

from .program import TURNGATE, Done

__all__ = ["fake_server", "fake_server_process"]

pytestmark = pytest.mark.slow

Turngate = Callable[..., Done]
Write = Callable[..., Path]
Config = Callable[..., dict[str, Any]]
ORIGIN = {"image": "skimage:astronaut", "size": 64}
KINDS = pytest.mark.parametrize("kind", ["gemini_judge", "openai_judge"])


@pytest.fixture
def judge(fake_server: FakeServer) -> Config:
    """Settings of a judge that asks the fake server."""

    def do(kind: str = "openai_judge", **fields: Any) -> dict[str, Any]:
        url = fake_server.base_url if kind == "gemini_judge" else fake_server.openai_url
        retry = {"first_wait_seconds": 0.01, "tries": 2}
        return {"type": kind, "model": "m", "base_url": url, "ask": "imagagent", "retry": retry, **fields}

    return do


def judged(judge: dict[str, Any], turns: int) -> dict[str, Any]:
    """A run whose gate listens to the judge."""
    return {
        "origin": ORIGIN, "turns": turns, "evaluators": {"judge": judge}, "score_origin": False,
        "gate": {"type": "threshold", "evaluator": "judge", "at": 7}, "allow_unstable_scores": True,
    }  # fmt: skip


@KINDS
def test_no_way_to_fail_is_a_score(
    turngate: Turngate, write: Write, judge: Config, fake_server: FakeServer, tmp_path: Path, kind: str
) -> None:
    """C30, C31 in the ledger: what came back is typed, and counted beside the mean."""
    answers = ["score:8", "refusal", "cut", "no_json", "out_of_range", "contradiction", "filtered", "503", "503", "400"]
    fake_server.judge(*answers)
    write(**judged(judge(kind), turns=9))
    done = turngate("run", "run.yaml", "--out", "run", "--json")
    assert (done.code, done.err) == (0, "")
    rows = [attempt.scores["judge"] for attempt in RunView.load(tmp_path / "run").attempts]
    assert [(row.status, row.why, row.fault) for row in rows] == [
        ("scored", None, None),
        ("unscored", "refused", None),
        ("unscored", "truncated", None),
        ("unscored", "parse", None),
        ("failed", "range", "provider"),
        ("scored", None, None),
        ("unscored", "filtered", None),
        ("failed", "unavailable", "provider"),
        ("failed", "bad_request", "provider"),
    ]
    assert [row.value for row in rows] == [8, None, None, None, None, 0, None, None, None]
    assert {"inconsistent", "verdict:pass"} <= set(rows[5].flags)
    assert [row.usage["calls"] for row in rows] == [1, 1, 1, 1, 1, 1, 1, 0, 0], "an answer without a score costs too"
    assert all("\n" not in row.detail for row in rows)
    assert "judge: 2 scored, 4 unscored, 3 failed, 0 skipped" in turngate("show", "run").out


@pytest.mark.parametrize(
    ("kind", "answer", "code", "told"),
    [
        ("gemini_judge", "404", 2, "gemini_judge.model: "),
        ("openai_judge", "401", 2, "refuses the key in OPENAI_API_KEY"),
        ("openai_judge", "429_per_day", 3, "resume the run after the reset"),
    ],
)
def test_what_no_later_call_can_mend_ends_the_run(
    turngate: Turngate,
    write: Write,
    judge: Config,
    fake_server: FakeServer,
    kind: str,
    answer: str,
    code: int,
    told: str,
) -> None:
    """One line, the exit code of who is at fault, and nothing is asked twice after the resume."""
    fake_server.judge("ok", answer)
    write(**judged(judge(kind), turns=3))
    turngate("run", "run.yaml", "--out", "run", "--quiet").refused(code, told)
    done = turngate("resume", "run", "--json")
    assert done.code == 0, done.err
    assert len(fake_server.requests("judge")) == 4


@KINDS
def test_a_wrong_key_and_none(
    turngate: Turngate, write: Write, judge: Config, fake_server: FakeServer, tmp_path: Path, kind: str
) -> None:
    """C50: the key is nowhere, neither in what is said nor in what is kept."""
    fake_server.script(require_key="right")
    write(**judged(judge(kind, api_key_env="MY_JUDGE_KEY"), turns=1))
    done = turngate("run", "run.yaml", "--out", "run", "--quiet", MY_JUDGE_KEY="key-wrong-0815", OPENAI_API_KEY="")
    done.refused(2, "refuses the key in MY_JUDGE_KEY")
    assert "0815" not in done.err
    kept = [path for path in (tmp_path / "run").rglob("*") if path.is_file() and b"0815" in path.read_bytes()]
    assert kept == []
    own = {**judge(kind), "base_url": None, "api_key_env": "NO_SUCH_KEY"}
    write("own.yaml", **judged(own, turns=1))
    none = turngate("run", "own.yaml", "--out", "own", "--quiet", NO_SUCH_KEY="", GOOGLE_API_KEY="")
    none.refused(2, f"{kind} needs an API key: export NO_SUCH_KEY=...")


@KINDS
def test_no_network(turngate: Turngate, write: Write, judge: Config, tmp_path: Path, kind: str) -> None:
    """Every evaluation failed, by the provider's fault; the policy decides and the run has an end."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = taken.getsockname()[1]
    write(**judged(judge(kind, base_url=f"http://127.0.0.1:{nobody}/v1"), turns=2))
    done = turngate("run", "run.yaml", "--out", "run", "--json")
    assert (done.code, done.err, done.json()["rejected"]) == (0, "", 2)
    rows = [attempt.scores["judge"] for attempt in RunView.load(tmp_path / "run").attempts]
    assert [(row.status, row.fault, row.why, row.value) for row in rows] == [
        ("failed", "provider", "transport", None)
    ] * 2
    assert all(row.detail.endswith("(2 tries)") for row in rows)


def test_the_bias_for_a_place_is_recorded(
    turngate: Turngate, write: Write, judge: Config, fake_server: FakeServer, tmp_path: Path
) -> None:
    """A judge that always takes what it is shown first: half a win, and a bias of 1."""
    fake_server.script(judge={"reasoning": "the first", "better": "first"})
    ask = {"preset": "less_damaged", "on_disagreement": "tie"}
    write(origin=ORIGIN, turns=2, evaluators={"judge": judge(ask=ask)}, score_origin=False)
    assert turngate("run", "run.yaml", "--out", "run", "--quiet").code == 0
    rows = [attempt.scores["judge"] for attempt in RunView.load(tmp_path / "run").attempts]
    assert [(row.value, row.components["position_bias"]) for row in rows] == [(0.5, 1)] * 2
    assert "better:first,first" in rows[0].flags and "disagreement" in rows[0].flags


def test_other_words_are_another_run(
    turngate: Turngate, write: Write, judge: Config, fake_server: FakeServer, tmp_path: Path
) -> None:
    """C12: a resumed run asks what it asked before, whatever became of the file; a new one says that it differs."""
    (tmp_path / "words.txt").write_text("Look. $images $criteria $answer")
    fake_server.judge("ok", "429_per_day")
    write(**judged(judge(prompt="words.txt"), turns=2))
    turngate("run", "run.yaml", "--out", "run", "--quiet").refused(3, "resume the run")
    (tmp_path / "words.txt").write_text("Look closely. $images $criteria $answer")
    turngate("run", "run.yaml", "--out", "run", "--quiet").refused(2, "evaluators.judge.prompt.words")
    (tmp_path / "words.txt").unlink()
    assert turngate("resume", "run", "--quiet").code == 0
    assert {request["text"].partition("Look")[2][:1] for request in fake_server.requests("judge")} == {"."}
    versions = {attempt.scores["judge"].version for attempt in RunView.load(tmp_path / "run").attempts}
    assert len(versions) == 1


def test_a_kill_of_turngate_score_costs_the_call_in_hand(
    turngate: Turngate, judge: Config, fake_server: FakeServer, environment: dict[str, str], tmp_path: Path
) -> None:
    """However many jobs and however large a batch: a question is asked when the answer before it is kept."""
    (tmp_path / "images").mkdir()
    for level in range(8):
        Image.fromarray(np.full((16, 16, 3), level * 20, np.uint8)).save(tmp_path / "images" / f"{level}.png")
    fake_server.script(answers={"judge.default": "slow:0.3"})
    alone = judge(ask={"preset": "imagagent", "references": [], "request": False})
    words = ["score", "images", "--with", json.dumps(alone), "--jobs", "4", "--batch", "4", "--no-cache"]
    process = subprocess.Popen([TURNGATE, *words], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(stored(tmp_path / "images")) < 3:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=60)
    kept = stored(tmp_path / "images")
    asked = [request["images"][0]["sha256"] for request in fake_server.requests("judge")]
    assert 3 <= len(kept) < 8
    assert len(asked) == len(set(asked)) <= len(kept) + 1
    done = turngate(*words, "--json")
    assert (done.code, done.json()["added"]) == (0, 8 - len(kept)), done.err
    times = Counter(request["images"][0]["sha256"] for request in fake_server.requests("judge"))
    assert len(times) == 8
    assert {image: count for image, count in times.items() if count > 1} == dict.fromkeys(set(asked) - set(kept), 2)


def stored(folder: Path) -> list[str]:
    """Images with a score in the table so far."""
    try:
        link = sqlite3.connect(f"file:{folder / 'scores.sqlite'}?mode=ro", uri=True)
    except sqlite3.OperationalError:  # not made yet
        return []
    try:
        return [image for (image,) in link.execute("SELECT image FROM scores WHERE status = 'scored'")]
    except sqlite3.OperationalError:  # being made
        return []
    finally:
        link.close()
