"""What was paid for is kept, and what a file says of itself: answers of judges, who decided, losses, sizes, places."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fake_server.process import FakeServer, fake_server, fake_server_process

from turngate import RunView, summarise
from turngate.traces.position_bias import PositionBias, position_bias

from .program import Done

__all__ = ["fake_server", "fake_server_process"]

Turngate = Callable[..., Done]
Write = Callable[..., Path]
ORIGIN = {"image": "skimage:astronaut", "size": 64}


@pytest.fixture
def judge(fake_server: FakeServer) -> dict[str, Any]:
    return {"type": "openai_judge", "model": "m", "base_url": fake_server.openai_url, "ask": "imagagent"}


def run(judge: dict[str, Any], turns: int, **more: Any) -> dict[str, Any]:
    return {
        "origin": ORIGIN,
        "editor": "codec",
        "turns": turns,
        "evaluators": {"j": judge},
        "score_origin": False,
        **more,
    }


# --- answers ---


def test_an_answer_is_stored_as_it_came_whatever_became_of_it(
    turngate: Turngate, write: Write, judge: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    reasons = "Dots \x1b[31m and \x9b everywhere. " + "Long. " * 2000 + "The key is sk-abcdefghijklmnop1234."
    marks = {"prompt_following": 8, "consistency": 9, "visual_quality": 7}
    fake_server.script(
        judge_queue=["ok", "no_json", "refusal", "cut"], judge={"reasoning": reasons, "verdict": "pass", **marks}
    )
    write(**run(judge, 4))
    assert turngate("run", "run.yaml", "--out", "r", "--quiet").code == 0
    scored, garbled, refused, cut = (attempt.scores["j"] for attempt in RunView.load(tmp_path / "r").attempts)
    assert scored.status == "scored" and scored.explanation is not None
    assert scored.explanation.startswith("Dots \x1b[31m and \x9b everywhere."), "as it came"
    assert len(scored.explanation) > 12_000 and scored.explanation.endswith("The key is [redacted].")
    assert json.loads(scored.answers[0])["reasoning"] == scored.explanation
    assert [row.status for row in (garbled, refused, cut)] == ["unscored"] * 3
    assert all(len(row.answers) == 1 and row.answers[0] for row in (garbled, refused, cut)), "paid for, so kept"
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "\x1b" not in page and "\u241b[31m" in page and "\x9b" not in page, "cleaned where it is shown"
    rows = [json.loads(line) for line in turngate("export", "r").out.splitlines()]
    assert rows[0]["scores"]["j"]["answers"] == scored.answers


def test_a_very_long_answer_says_how_much_was_cut(
    turngate: Turngate, write: Write, judge: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    fake_server.script(judge={"reasoning": "x" * 250_000, "verdict": "pass"})
    write(**run(judge, 1))
    assert turngate("run", "run.yaml", "--out", "r", "--quiet").code == 0
    (answer,) = RunView.load(tmp_path / "r").attempts[0].scores["j"].answers
    kept, _, mark = answer.partition(" [cut: ")
    assert len(kept) == 200_000 and mark.endswith(" more characters]")
    assert 50_000 <= int(mark.split()[0]) < 51_000


# --- telemetry ---


@pytest.mark.parametrize(("sends", "lost"), [({"exporter": "none"}, 0), ({"exporter": "jsonl"}, 0)])
def test_what_was_lost_is_shown_as_recorded(turngate: Turngate, write: Write, sends: dict[str, Any], lost: int) -> None:
    write(turns=1, telemetry=sends)
    assert turngate("run", "run.yaml", "--out", "r", "--json").json()["dropped_spans"] == lost
    assert turngate("show", "r", "--json").json()["dropped_spans"] == lost


def test_lost_spans_are_told_later_too_and_never_as_0(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    write(turns=1, telemetry={"exporter": "otlp", "flush_seconds": 0.2})
    dead = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    told = turngate("run", "run.yaml", "--out", "r", "--json", **dead).json()
    assert told["dropped_spans"] > 0
    again = turngate("show", "r", "--json").json()
    assert again["dropped_spans"] == told["dropped_spans"] == again["lost_telemetry"]["spans"]
    assert f"telemetry   lost: {told['dropped_spans']} spans" in turngate("show", "r").out
    write("short.yaml", turns=2, telemetry={"exporter": "jsonl"}, budgets={"attempts": 1})
    assert turngate("run", "short.yaml", "--out", "killed", "--quiet").code == 10
    ledger = RunView.load(tmp_path / "killed").folder.ledger(read_only=False)
    ledger.add_event("started", {"pid": 1, "telemetry": True})  # a process that was killed left no more than this
    ledger.close()
    assert turngate("show", "killed", "--json").json()["dropped_spans"] is None
    assert "how much of it was lost is not known" in turngate("show", "killed").out


# --- reviews ---


def test_who_decided_is_a_column_of_the_decision(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    write(turns=2, gate="always_reject", on_reject={"then": "ask_human"})
    assert turngate("run", "run.yaml", "--out", "r", "--quiet").code == 11
    turngate("resume", "r", "--by", "Ada").refused(2, "add --accept or --reject")
    assert turngate("resume", "r", "--accept", "--by", "  Ada\nL. ", "--comment", "fine", "--quiet").code == 11
    assert turngate("resume", "r", "--reject", "--quiet").code == 0
    rows = [json.loads(line)["decision"] for line in turngate("export", "r").out.splitlines()]
    assert [(row["rule"], row["decided_by"]) for row in rows] == [("human", "Ada L."), ("human", None)]
    assert "decision.decided_by" in turngate("export", "r", "--format", "csv").out.splitlines()[0]
    assert "reviews     1 by Ada L., 1 by a person whose name was not said" in turngate("show", "r").out
    assert summarise(RunView.load(tmp_path / "r")).reviews == {"Ada L.": 1, "not said": 1}
    assert "Ada L." in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    frames = pytest.importorskip("polars") and __import__("turngate").frames(tmp_path / "r")
    assert frames.decisions["decided_by"].to_list() == ["Ada L.", None]


# --- position bias ---


def test_a_judge_that_always_names_the_first_is_found_out(
    turngate: Turngate, write: Write, judge: dict[str, Any], fake_server: FakeServer, tmp_path: Path
) -> None:
    fake_server.script(judge={"reasoning": "The first.", "better": "first"})
    write(**run({**judge, "ask": "pairwise"}, 3))
    done = turngate("run", "run.yaml", "--out", "r")
    assert "WARNING     j: always names the image shown first, in 3 pairs: it does not look" in done.out
    bias = turngate("show", "r", "--json").json()["position_bias"]["j"]
    assert (bias["pairs"], bias["first"], bias["first_share"], bias["disagreements"]) == (3, 6, 1.0, 3)
    assert "it does not look" in (tmp_path / "r" / "report.html").read_text()
    scored = turngate("score", "r", "--with", f"again={json.dumps({**judge, 'ask': 'pairwise'})}")
    assert "WARNING: again always names the image shown first" in scored.err, scored.err


def test_position_bias_counts_answers_by_place() -> None:
    def pair(reference_first: str, candidate_first: str) -> dict[str, float]:
        wins = {"first": 1.0, "tie": 0.5, "second": 0.0}
        return {"candidate_second": 1 - wins[reference_first], "candidate_first": wins[candidate_first]}

    looks = position_bias([pair("second", "first"), pair("first", "second")] * 4)
    assert looks is not None and (looks.first_share, looks.disagreements, looks.always) == (0.5, 0, None)
    blind = position_bias([pair("second", "second")] * 3)
    assert blind is not None and (blind.first_share, blind.disagreements, blind.always) == (0.0, 3, "second")
    few = position_bias([pair("first", "first")] * 2)
    assert few is not None and few.always is None, "two pairs may be chance"
    ties = position_bias([pair("tie", "tie"), pair("first", "tie")])
    assert ties is not None and (ties.first, ties.ties, ties.first_share) == (1, 3, 1.0)
    assert position_bias([{"noise": 1.0}]) is None
    assert (looks + blind).pairs == 11 and PositionBias().first_share is None


# --- sizes ---


def test_scores_of_another_size_are_flagged_without_a_reference_only(
    turngate: Turngate, write: Write, fake_server: FakeServer, tmp_path: Path
) -> None:
    fake_server.answer("ok", "size:96x80")
    editor = {"type": "gemini", "base_url": fake_server.base_url}
    write(origin=ORIGIN, editor=editor, evaluators=["brisque", {"type": "psnr", "align": "shift"}], turns=2)
    assert turngate("run", "run.yaml", "--out", "r", "--quiet").code == 0
    first, second = RunView.load(tmp_path / "r").attempts
    assert first.scores["brisque"].other_size is None
    assert second.scores["brisque"].other_size == "96x80" and "scored_at:96x80" in second.scores["brisque"].flags
    assert second.scores["psnr"].other_size is None, "it has its reference beside it"
    assert "1 of them on images of another size than the origin's" in turngate("show", "r").out
    assert turngate("score", "r", "--with", "again={type: brisque}").code == 0
    rows = turngate("export", "r", "--format", "csv")
    assert rows.code == 0
    from turngate.traces.rescored import ScoreTable

    later = ScoreTable(tmp_path / "r" / "scores.sqlite", read_only=True).scores()
    assert [(row.turn, "scored_at:96x80" in row.flags) for row in later] == [(0, False), (1, False), (2, True)]


# --- settings that do nothing ---


def test_idle_settings_are_told_before_the_first_turn(
    turngate: Turngate, write: Write, fake_server: FakeServer, tmp_path: Path
) -> None:
    editor = {"type": "openai", "model": "m", "base_url": fake_server.openai_url}
    write(origin=ORIGIN, editor=editor, turns=1, evaluators={})
    done = turngate("run", "run.yaml", "--out", "r")
    lines = done.err.splitlines()
    told = next(line for line in lines if line.startswith("does nothing: seed: editor 'openai' does not send it"))
    assert lines.index(told) < next(number for number, line in enumerate(lines) if line.startswith("turn 1/1"))
    assert "no effect   seed: editor 'openai' does not send it" in turngate("show", "r").out
    assert "does not send it" in (tmp_path / "r" / "report.html").read_text()
    for quiet in ({"editor": {**editor, "send_seed": True}}, {"seed_policy": "none"}):
        write(**{"origin": ORIGIN, "editor": editor, "turns": 1, "evaluators": {}, **quiet})
        assert "does nothing" not in turngate("run", "run.yaml", "--out", str(len(str(quiet)))).err
    write(editor="codec", seed_policy="fixed", turns=1)
    assert "seed_policy: editor 'codec' is deterministic" in turngate("run", "run.yaml", "--out", "c").err
    gemini = {"type": "gemini", "base_url": fake_server.base_url, "window": 3}
    write(origin=ORIGIN, editor=gemini, turns=1)
    assert "editor.window: it is for history `chat`" in turngate("run", "run.yaml", "--out", "w").err
