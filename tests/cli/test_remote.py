"""Runs whose editor is a server in another process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fake_server.process import FakeServer, fake_server, fake_server_process

from turngate import RunView

from .program import Done

__all__ = ["fake_server", "fake_server_process"]

Turngate = Callable[..., Done]
Write = Callable[..., Path]
ORIGIN = {"image": "skimage:astronaut", "size": 96}


@pytest.fixture
def gemini(fake_server: FakeServer) -> dict[str, Any]:
    """Configuration of the editor."""
    return {"type": "gemini", "base_url": fake_server.base_url, "retry": {"first_wait_seconds": 0.01, "tries": 3}}


@pytest.mark.slow
def test_a_run_of_both_editors(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer
) -> None:
    openai = {"type": "openai", "model": "m", "base_url": fake_server.openai_url}
    for name, editor in (("gemini", gemini), ("openai", openai)):
        write(origin=ORIGIN, editor=editor, turns=4)
        done = turngate("run", "run.yaml", "--out", name, "--json")
        assert done.code == 0, done.err
        assert done.json()["accepted"] == 4
    arrived = [request["images"][0]["sha256"] for request in fake_server.requests("edit")]
    assert len(set(arrived)) == 7, "both began with the origin, then each edited its own images"


def test_a_refusal_costs_a_turn_and_never_passes_the_old_image_on(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    """C20 in a run."""
    fake_server.answer("ok", "finish:IMAGE_SAFETY", "ok")
    write(origin=ORIGIN, editor=gemini, turns=3)
    done = turngate("run", "run.yaml", "--out", "run", "--json")
    assert (done.json()["accepted"], done.json()["rejected"], done.json()["no_images"]) == (2, 1, 1)
    first, refused, third = RunView.load(tmp_path / "run").attempts
    assert (refused.row.why, refused.row.image, refused.row.finish_reason) == ("safety", None, "IMAGE_SAFETY")
    assert third.row.input_image == first.row.image


def test_a_daily_limit_stops_the_run_and_resume_goes_on(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer
) -> None:
    """C24."""
    fake_server.answer("ok", "ok", "429_per_day")
    write(origin=ORIGIN, editor=gemini, turns=4)
    turngate("run", "run.yaml", "--out", "run", "--quiet").refused(3, "resume the run after the reset")
    done = turngate("resume", "run", "--json")
    assert done.code == 0, done.err
    assert done.json()["accepted"] == 4
    assert len(fake_server.requests("edit")) == 5, "what was answered is not asked again"


def test_another_version_in_mid_run_is_flagged_and_told(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    """C28."""
    fake_server.answer("model:pro-1", "model:pro-1", default="model:pro-2")
    write(origin=ORIGIN, editor=gemini, turns=4)
    done = turngate("run", "run.yaml", "--out", "run")
    assert "turn 3: another model answers, model_changed:pro-1->pro-2" in done.err
    attempts = RunView.load(tmp_path / "run").attempts
    assert [attempt.row.model for attempt in attempts] == ["pro-1", "pro-1", "pro-2", "pro-2"]
    assert [len(attempt.row.flags) for attempt in attempts] == [1, 1, 2, 1], "one is that the server is the fake one"
    assert "model_changed:pro-1-&gt;pro-2" in (tmp_path / "run" / "report.html").read_text()


def test_a_change_of_version_across_a_resume_is_flagged_too(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    fake_server.answer("model:pro-1", "429_per_day", default="model:pro-2")
    write(origin=ORIGIN, editor=gemini, turns=2)
    turngate("run", "run.yaml", "--out", "run", "--quiet")
    turngate("resume", "run", "--quiet")
    assert RunView.load(tmp_path / "run").attempts[1].row.flags == ["fake_server", "model_changed:pro-1->pro-2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "media_type", "flag", "normalised"),
    [
        ("size:120x80", "image/png", "size_changed:96x96->120x80", False),
        ("as:rgba", "image/png", None, True),
        ("as:palette", "image/png", None, True),
        ("as:gray16", "image/png", None, True),
        ("as:cmyk", "image/jpeg", None, True),
        ("as:exif", "image/jpeg", None, True),
        ("jpeg_as_png", "image/jpeg", None, False),
    ],
)
def test_an_odd_image_is_stored_as_received_and_normalised_on_the_record(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer, tmp_path: Path,
    answer: str, media_type: str, flag: str | None, normalised: bool,
) -> None:  # fmt: skip
    """C26."""
    fake_server.answer(answer)
    write(origin=ORIGIN, editor=gemini, turns=2)
    assert turngate("run", "run.yaml", "--out", "run", "--quiet").code == 0
    view = RunView.load(tmp_path / "run")
    row = view.attempts[0].row
    assert row.media_type == media_type
    assert bool(row.normalised) == normalised
    assert flag is None or flag in row.flags
    assert row.image is not None
    assert len(view.folder.images.get(row.image)) == row.size_bytes


@pytest.mark.slow
def test_a_conversation_goes_back_whole_and_only_along_the_lineage(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    """C23 and C7: signatures go back, a refused turn is not part of the conversation, the origin is sent once."""
    fake_server.script(require_signatures=True, queue=["ok", "finish:NO_IMAGE", "ok", "interim:1", "ok"])
    write(origin=ORIGIN, editor=gemini, turns=5, history="chat")
    done = turngate("run", "run.yaml", "--out", "run", "--json")
    assert done.code == 0, done.err
    assert done.json()["accepted"] == 4
    said = [[message["role"] for message in request["messages"]] for request in fake_server.requests("edit")]
    assert said == [["user"] + ["model", "user"] * earlier for earlier in (0, 1, 1, 2, 3)]
    last = fake_server.requests("edit")[-1]
    assert [message["parts"].count("image") for message in last["messages"] if message["role"] == "user"] == [
        1,
        0,
        0,
        0,
    ]
    taken = [attempt.row.image for attempt in RunView.load(tmp_path / "run").attempts if attempt.taken]
    assert taken[-2] in [image["sha256"] for image in last["images"]]


@pytest.mark.slow
def test_a_conversation_is_the_same_after_a_resume_and_in_a_fork(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer
) -> None:
    fake_server.script(require_signatures=True, queue=["ok", "ok", "429_per_day"])
    write(origin=ORIGIN, editor=gemini, turns=4, history="chat")
    turngate("run", "run.yaml", "--out", "run", "--quiet")
    assert turngate("resume", "run", "--quiet").code == 0
    assert turngate("fork", "run", "--turn", "2", "--out", "child", "--set", "turns=3", "--quiet").code == 0
    assert turngate("resume", "child", "--quiet").code == 0
    said = [request["messages"] for request in fake_server.requests("edit")]
    assert said[-1] == said[2], "the third turn of the child says what the third turn of its parent said"
    assert turngate("validate", "child").code == 0


@pytest.mark.slow
def test_a_window_keeps_the_first_and_the_latest_exchanges(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer
) -> None:
    fake_server.script(require_signatures=True)
    write(origin=ORIGIN, editor={**gemini, "window": 2}, turns=5, history="chat")
    assert turngate("run", "run.yaml", "--out", "run", "--quiet").code == 0
    last = fake_server.requests("edit")[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "model", "user", "model", "user"]
    shown = [message["parts"].count("image") for message in last if message["role"] == "user"]
    assert shown == [1, 1, 0], "the input of the exchange after the gap is shown again"


def test_an_editor_that_holds_no_conversation_refuses_one(turngate: Turngate, write: Write) -> None:
    write(history="chat")
    turngate("run", "run.yaml").refused(2, "cannot hold a conversation")


def test_money_that_cannot_be_counted_cannot_be_limited(
    turngate: Turngate, write: Write, fake_server: FakeServer
) -> None:
    editor = {"type": "openai", "model": "unheard-of", "base_url": fake_server.openai_url}
    write(editor=editor, budgets={"usd": 1})
    turngate("run", "run.yaml").refused(2, "what editor costs is not known", "editor.prices")


def test_money_runs_out_and_resume_goes_on(
    turngate: Turngate, write: Write, gemini: dict[str, Any], tmp_path: Path
) -> None:
    write(origin=ORIGIN, editor=gemini, turns=3, budgets={"usd": 0.2})
    done = turngate("run", "run.yaml", "--out", "run", "--json")
    assert done.json()["status"] == "budget_exhausted"
    attempts = RunView.load(tmp_path / "run").attempts
    costs = [attempt.row.cost_usd or 0 for attempt in attempts]
    assert done.json()["cost_usd"] == pytest.approx(sum(costs))
    assert sum(costs[:-1]) < 0.2 <= sum(costs)
    assert turngate("resume", "run", "--set", "budgets.usd=5", "--json").json()["accepted"] == 3


def test_no_key_reaches_the_run_folder(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    """C50."""
    key = "a-key-that-must-not-be-seen-0123"
    fake_server.answer("ok", "400_key")
    write(origin=ORIGIN, editor=gemini, turns=2)
    done = turngate("run", "run.yaml", "--out", "run", GEMINI_API_KEY=key)
    assert done.code == 2
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes(), path
    assert key not in done.err + done.out
    assert all(key not in json.dumps(request) for request in fake_server.requests())


def test_a_missing_key_leaves_no_run(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    write(editor="gemini")
    empty = {"GEMINI_API_KEY": "", "GOOGLE_API_KEY": ""}
    turngate("run", "run.yaml", "--out", "run", **empty).refused(2, "export GEMINI_API_KEY=")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_seed_policies_reach_the_server(
    turngate: Turngate, write: Write, gemini: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    """C8: what was used is recorded; without a seed policy nothing is sent, and the record says so."""
    seen = {}
    for policy in ("fixed", "per_turn", "per_attempt", "none"):
        fake_server.reset()
        write(origin=ORIGIN, editor=gemini, turns=3, seed_policy=policy)
        assert turngate("run", "run.yaml", "--out", policy, "--quiet").code == 0
        seen[policy] = [request["seed"] for request in fake_server.requests("edit")]
        assert [attempt.row.seed for attempt in RunView.load(tmp_path / policy).attempts] == seen[policy]
    assert len(set(seen["fixed"])) == 1
    assert len(set(seen["per_turn"])) == 3
    assert seen["none"] == [None] * 3
