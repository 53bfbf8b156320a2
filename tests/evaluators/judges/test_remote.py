"""Judges of both kinds against a server in another process: what is sent, what comes back, every way to fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest
from tests.fake_server.process import FakeServer

from turngate import Picture
from turngate.errors import ConfigError, MissingKey, QuotaExhausted
from turngate.evaluators import EVALUATORS, EvalInput, Failed, Result, Score, Unscored
from turngate.evaluators.result import EvaluationUsage
from turngate.evaluators.scoring import score
from turngate.testing import check_evaluator

from .conftest import PRICES, Judges

GOOD = json.dumps({"reasoning": "clean", "overall": 8, "verdict": "pass"})


def one(judge: Any, sample: EvalInput) -> Result:
    return score(judge, [sample])[0]


def scored(result: Result) -> Score:
    assert isinstance(result, Score), result
    return result


@pytest.mark.slow
@pytest.mark.parametrize("ask", ["edit", "lme_turn", "lme_degraded", "imagagent", "vie_score", "damage"])
def test_every_preset_keeps_the_contract(judge: Judges, ask: str) -> None:
    evaluator = judge(ask=ask)
    check_evaluator(evaluator)
    assert not evaluator.facts.deterministic, "so a gate refuses it unless allow_unstable_scores is set"
    assert evaluator.facts.paid


@pytest.mark.slow
def test_a_comparison_keeps_the_contract(judge: Judges, fake_server: FakeServer) -> None:
    fake_server.script(judge={"reasoning": "alike", "better": "tie"})
    check_evaluator(judge(ask="less_damaged"))


def test_marks_reasons_version_sizes_and_cost_are_kept(
    judge: Judges, fake_server: FakeServer, sample: EvalInput
) -> None:
    marks = {"prompt_following": 8, "consistency": 9.5, "visual_quality": 7}
    fake_server.script(
        judge={"reasoning": "Dots \x1b[31m in the sky.\nElse clean.", "verdict": "pass", **marks},
        answers={"judge.default": "model:some-model-2026-11"},
    )
    result = scored(one(judge(max_side=48), sample))
    assert (result.value, result.label, result.components) == (7, "pass", marks)
    assert result.explanation == "Dots \x1b[31m in the sky.\nElse clean.", "kept as it came; who shows it cleans it"
    assert len(result.answers) == 1 and "\\u001b[31m in the sky" in result.answers[0]
    assert set(result.flags) == {
        "fake_server",
        "model:some-model-2026-11",
        "sent:previous:48x48:image/png:of 96x96",
        "sent:candidate:48x48:image/png:of 96x96",
    }
    used = result.usage
    assert used is not None and used.input_tokens and used.output_tokens
    assert used.cost_usd == pytest.approx(used.input_tokens * 1e-6 + used.output_tokens * 2e-6)


def test_what_is_asked_arrives(judge: Judges, fake_server: FakeServer, sample: EvalInput) -> None:
    evaluator = judge(ask="imagagent", seed=5, temperature=0.25, max_tokens=300)
    one(evaluator, sample)
    (arrived,) = fake_server.requests("judge")
    assert sample.previous is not None
    assert [image["sha256"] for image in arrived["images"]] == [sample.previous.sha256, sample.candidate.sha256]
    assert arrived["text"].startswith("Image 1:\nImage 2:\n")
    assert "Image 2: the candidate" in arrived["text"]
    assert sample.instruction is not None
    before, _, after = arrived["text"].partition(sample.instruction)
    assert "[request " in before and "[end of request " in after
    config = arrived["config"]
    assert (arrived["seed"], config["temperature"]) == (5, 0.25)
    schema = config.get("responseJsonSchema") or config["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["reasoning", "overall", "verdict"]
    assert 300 in config.values()


@pytest.mark.parametrize("structured", ["json_object", "text"])
def test_servers_that_take_no_schema(
    judge: Judges, fake_server: FakeServer, sample: EvalInput, structured: str
) -> None:
    fake_server.script(judge={"reasoning": "clean", "overall": 8, "verdict": "pass"})
    assert scored(one(judge(ask="imagagent", structured=structured, seed=None, temperature=None), sample)).value == 8
    (arrived,) = fake_server.requests("judge")
    assert "schema" not in json.dumps(arrived["config"])
    assert ("json" in json.dumps(arrived["config"])) == (structured == "json_object")
    assert arrived["seed"] is None
    assert "temperature" not in arrived["config"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("no_json", "parse"),
        ("empty", "parse"),
        ('text:{"overall": 8}', "parse"),
        ("text:{} {}", "parse"),
        ("cut", "truncated"),
        ("filtered", "filtered"),
        ("refusal", "refused"),
    ],
)
def test_what_gives_no_score_says_why(
    judge: Judges, fake_server: FakeServer, sample: EvalInput, answer: str, why: str
) -> None:
    """C30, C31: and the prompt is not changed behind the user's back, so it is asked once."""
    fake_server.judge(answer)
    result = one(judge(), sample)
    assert isinstance(result, Unscored), result
    assert result.why == why
    assert result.detail
    assert result.usage is not None and result.usage.calls == 1, "it costs the same"
    assert any(flag.startswith("model:") for flag in result.flags)
    assert len(fake_server.requests("judge")) == 1


def test_a_mark_out_of_range_is_a_failure_and_a_contradiction_a_flag(
    judge: Judges, fake_server: FakeServer, sample: EvalInput
) -> None:
    """C30."""
    fake_server.judge("out_of_range", "contradiction", "fenced")
    evaluator = judge()
    failed, contradicted, fenced = (one(evaluator, sample) for _ in range(3))
    assert isinstance(failed, Failed) and (failed.fault, failed.error) == ("provider", "range")
    assert scored(contradicted).value == 0, "the judge's own mark: verdict `pass`, every mark 0"
    assert {"inconsistent", "verdict:pass"} <= set(scored(contradicted).flags)
    assert scored(fenced).value == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "error"),
    [
        (["503"] * 3, "unavailable"),
        (["html:200"] * 3, "malformed"),
        (["malformed"] * 3, "malformed"),
        (["drop"] * 3, "transport"),
        (["400"], "bad_request"),
        (["finish:OTHER"], "finish_reason"),
        (["no_candidates"], "empty"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_failed_call_is_the_providers_failure(
    judge: Judges, fake_server: FakeServer, sample: EvalInput, answers: list[str], error: str
) -> None:
    fake_server.judge(*answers)
    result = one(judge(), sample)
    assert isinstance(result, Failed), result
    assert (result.fault, result.error) == ("provider", error)
    assert ("structured" in result.detail) == (error == "bad_request"), "the hint"
    assert len(fake_server.requests("judge")) == len(answers)


def test_one_layer_tries_again(judge: Judges, fake_server: FakeServer, sample: EvalInput) -> None:
    fake_server.judge("503", "429_per_minute:0.05", "ok")
    result = scored(one(judge(), sample))
    assert len(fake_server.requests("judge")) == 3
    assert result.usage is not None
    assert result.usage.calls == 1
    assert result.usage.waited_seconds > 0.05


def test_an_answer_that_does_not_come(judge: Judges, fake_server: FakeServer, sample: EvalInput) -> None:
    fake_server.judge("hang:5")
    result = one(judge(retry={"tries": 1, "deadline_seconds": 0.3}), sample)
    assert isinstance(result, Failed)
    assert result.error == "timeout"


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        ("429_per_day", QuotaExhausted, "resume the run after the reset"),
        ("401", MissingKey, "refuses the key in"),
        ("404", ConfigError, "knows no 'some-model'"),
    ],
)
def test_what_no_later_call_can_mend_is_raised(
    judge: Judges, fake_server: FakeServer, sample: EvalInput, answer: str, kind: type[Exception], told: str
) -> None:
    fake_server.judge(default=answer)
    with pytest.raises(kind, match=told):
        judge(parallel=1).evaluate([sample] * 5)
    assert len(fake_server.requests("judge")) == 1, "the rest of the batch is not asked"


def test_a_wrong_key_does_not_reach_the_record(
    fake_server: FakeServer, sample: EvalInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SECRET_KEY", "sk-wrong-0815")
    fake_server.script(require_key="right")
    raw = {
        "type": "openai_judge", "model": "m", "base_url": fake_server.openai_url, "api_key_env": "MY_SECRET_KEY",
    }  # fmt: skip
    with pytest.raises(MissingKey) as error:
        EVALUATORS.build(EVALUATORS.configure(raw, "j")).evaluate([sample])
    assert "MY_SECRET_KEY" in str(error.value)
    assert "0815" not in str(error.value)


@pytest.mark.parametrize("kind", ["gemini_judge", "openai_judge"])
def test_no_key_is_told_before_the_first_call(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingKey, match=f"evaluator {kind} needs an API key: export"):
        EVALUATORS.build(EVALUATORS.configure({"type": kind, "model": "m"}, "j"))


def test_both_orders_are_asked_and_both_are_paid(judge: Judges, fake_server: FakeServer, sample: EvalInput) -> None:
    evaluator = judge(ask={"form": "pairwise", "against": "origin"})
    fake_server.judge(
        'text:{"reasoning": "noise", "better": "first"}', 'text:{"reasoning": "noise", "better": "second"}'
    )
    result = scored(one(evaluator, sample))
    assert (result.value, result.label) == (0, "reference")
    assert result.components == {"candidate_second": 0, "candidate_first": 0, "position_bias": 0}
    assert result.usage is not None and result.usage.calls == 2
    assert sample.origin is not None
    shown = [[image["sha256"] for image in request["images"]] for request in fake_server.requests("judge")]
    assert shown == [[sample.origin.sha256, sample.candidate.sha256], [sample.candidate.sha256, sample.origin.sha256]]


def test_a_judge_that_always_takes_the_first_decides_nothing(
    judge: Judges, fake_server: FakeServer, sample: EvalInput
) -> None:
    strict = one(judge(ask="less_damaged"), sample)
    assert isinstance(strict, Unscored) and strict.why == "disagreement"
    assert strict.flags[0] == "better:first,first"
    measured = scored(one(judge(ask={"preset": "less_damaged", "on_disagreement": "tie"}), sample))
    assert (measured.value, measured.components["position_bias"]) == (0.5, 1.0)


def test_a_batch_is_asked_side_by_side_and_answered_in_order(
    judge: Judges, fake_server: FakeServer, sample: EvalInput
) -> None:
    pictures = [Picture.from_rgb(np.full((32, 32, 3), level, np.uint8)) for level in (10, 20, 30, 40)]
    fake_server.script(answers={"judge.default": "slow:0.05"})
    samples = [replace(sample, candidate=picture, previous=sample.origin) for picture in pictures]
    results = judge(parallel=4).evaluate(samples)
    assert [type(result) for result in results] == [Score] * 4
    arrived = {request["images"][-1]["sha256"] for request in fake_server.requests("judge")}
    assert arrived == {picture.sha256 for picture in pictures}


def test_one_bad_answer_costs_one_sample(judge: Judges, fake_server: FakeServer, sample: EvalInput) -> None:
    fake_server.judge("ok", "no_json", "400", "ok")
    results = judge(parallel=1).evaluate([sample] * 4)
    assert [type(result) for result in results] == [Score, Unscored, Failed, Score]


def test_inside_a_running_loop(judge: Judges, sample: EvalInput) -> None:
    """As in a notebook."""

    async def main() -> Result:
        return one(judge(), sample)

    assert scored(asyncio.run(main())).value == 7


def test_a_missing_reference_is_not_asked_about(judge: Judges, fake_server: FakeServer, sample: EvalInput) -> None:
    bare = EvalInput(sample.candidate, instruction="Copy it.")
    for result in (one(judge(), bare), judge().evaluate([bare])[0]):
        assert isinstance(result, Unscored) and result.why == "no_reference"
    assert fake_server.requests("judge") == []


def test_the_version_is_the_words(judge: Judges, tmp_path: Any) -> None:
    (tmp_path / "own.txt").write_text("Look. $criteria $answer")
    versions = [judge(**fields).facts.version for fields in ({}, {"ask": "lme_turn"}, {"prompt": tmp_path / "own.txt"})]
    assert len(set(versions)) == 3
    own = judge(prompt=tmp_path / "own.txt")
    assert own.facts.inputs == {"candidate", "previous"}, "nothing but what its words speak of"
    assert own.facts.version == versions[2]


def test_prices_decide_what_is_known_about_money(fake_server: FakeServer, sample: EvalInput) -> None:
    """The chat protocol does not tell image tokens apart: no guess where they have another price."""
    raw = {"type": "openai_judge", "model": "m", "base_url": fake_server.openai_url}
    for prices, known in ((None, False), (PRICES, True), ({**PRICES, "image_input": 3}, False)):
        result = scored(one(EVALUATORS.build(EVALUATORS.configure({**raw, "prices": prices}, "j")), sample))
        assert result.usage is not None
        assert (result.usage.cost_usd is not None) == known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"choices": [{"message": {"content": GOOD}}]}, 8.0),
        ({"choices": [{"message": {"content": GOOD}, "finish_reason": "eos_token"}], "usage": {}}, 8.0),
        ({"choices": [{"message": {"content": [{"type": "text", "text": GOOD}]}}]}, "finish_reason"),
        ({"choices": [{"message": {}, "finish_reason": "stop"}]}, "parse"),
        ({"choices": [{"finish_reason": "stop"}]}, "malformed"),
        ({"choices": None}, "malformed"),
        ({"error": "busy"}, "malformed"),
        ([], "malformed"),
    ],
    ids=str,
)
def test_servers_that_keep_only_half_of_the_protocol(body: Any, expected: Any, sample: EvalInput) -> None:
    """Proxies and local servers leave fields out; nothing of that may break a run."""
    with serving(body) as url:
        raw = {"type": "openai_judge", "model": "m", "base_url": url, "ask": "imagagent", "retry": {"tries": 1}}
        result = one(EVALUATORS.build(EVALUATORS.configure(raw, "j")), sample)
    if isinstance(result, Score):
        assert (result.value, result.usage) == (expected, EvaluationUsage(1))
        assert any(flag.startswith("finish_reason:finish reason") for flag in result.flags)
    else:
        assert isinstance(result, Unscored | Failed)
        assert (result.why if isinstance(result, Unscored) else result.error) == expected


@contextmanager
def serving(body: Any) -> Iterator[str]:
    """A server that gives one answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            text = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_request(self, code: Any = "-", size: Any = "-") -> None:
            """Not on standard error."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
