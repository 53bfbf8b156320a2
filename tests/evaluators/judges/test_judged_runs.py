"""Whole runs whose gate listens to a judge in another process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.fake_server.process import FakeServer

from turngate import RunView, parse_config
from turngate.errors import ConfigError
from turngate.graphs.config import RunConfig

Config = Callable[..., RunConfig]
Run = Callable[..., Any]


@pytest.fixture
def judge(fake_server: FakeServer) -> dict[str, Any]:
    """Configuration of a judge."""
    retry = {"first_wait_seconds": 0.01, "tries": 2}
    return {
        "type": "openai_judge",
        "model": "m",
        "base_url": fake_server.openai_url,
        "ask": "imagagent",
        "retry": retry,
    }


@pytest.mark.slow
def test_a_gate_listens_to_marks(config: Config, run: Run, fake_server: FakeServer, judge: dict[str, Any]) -> None:
    fake_server.judge("score:8", "score:3", "no_json", "503", "503", "score:7")
    settings = config(
        evaluators={"judge": judge},
        gate={"type": "threshold", "evaluator": "judge", "at": 7},
        allow_unstable_scores=True,
        score_origin=False,
        turns=5,
    )
    ended, view = run(settings)
    assert ended.status == "complete"
    rows = [(attempt.decision.verdict, attempt.decision.rule) for attempt in view.attempts]
    assert rows == [
        ("accept", "gate"),
        ("reject", "gate"),
        ("reject", "on_unscored:reject"),
        ("reject", "on_unscored:reject"),
        ("accept", "gate"),
    ]
    scores = [attempt.scores["judge"] for attempt in view.attempts]
    assert [row.status for row in scores] == ["scored", "scored", "unscored", "failed", "scored"]
    assert (scores[2].why, scores[3].fault, scores[3].why) == ("parse", "provider", "unavailable")
    assert scores[0].explanation


def test_a_gate_listens_to_a_verdict(config: Config, run: Run, fake_server: FakeServer, judge: dict[str, Any]) -> None:
    fake_server.judge("score:1", "score:9")
    settings = config(
        evaluators={"judge": judge},
        gate={"type": "label", "evaluator": "judge", "accept": ["pass"]},
        allow_unstable_scores=True,
        score_origin=False,
        turns=2,
    )
    _, view = run(settings)
    assert [attempt.decision.verdict for attempt in view.attempts] == ["reject", "accept"]


def test_a_gate_refuses_a_judge_unless_that_is_meant(config: Config, run: Run, judge: dict[str, Any]) -> None:
    settings = config(evaluators={"judge": judge}, gate={"type": "threshold", "evaluator": "judge", "at": 7})
    with pytest.raises(ConfigError, match="stochastic: set allow_unstable_scores"):
        run(settings)


def test_a_resolved_configuration_can_be_run_again(config: Config, judge: dict[str, Any]) -> None:
    ensemble = {
        "type": "ensemble", "rule": "mean", "members": {"one": judge, "two": {**judge, "ask": {"preset": "lme_turn"}}},
    }  # fmt: skip
    first = config(evaluators={"judge": judge, "both": ensemble})
    dumped = first.model_dump(mode="json")
    assert dumped["evaluators"]["judge"]["ask"]["criteria"][0]["asks"], "the words that were asked stand in run.json"
    assert parse_config(dumped, "run.json") == first


def test_a_wrong_setting_is_found_before_anything_is_asked(config: Config, judge: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="ask: no preset or form is called 'imagagnt'; did you mean 'imagagent'"):
        config(evaluators={"judge": {**judge, "ask": "imagagnt"}})


def test_resume_does_not_ask_again(config: Config, run: Run, fake_server: FakeServer, judge: dict[str, Any]) -> None:
    fields: dict[str, Any] = {
        "evaluators": {"judge": judge}, "gate": {"type": "always_accept"}, "score_origin": False, "turns": 4,
    }  # fmt: skip
    ended, _ = run(config(**fields, budgets={"attempts": 2}))
    assert ended.status == "budget_exhausted"
    ended, view = run(config(**fields))
    assert isinstance(view, RunView)
    assert ended.status == "complete"
    assert len(fake_server.requests("judge")) == 4
