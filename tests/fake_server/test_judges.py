"""Judging through both SDKs: one script, one meaning."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from ._images import photo
from .process import FakeServer

if TYPE_CHECKING:
    from google.genai import Client
    from openai import OpenAI


class Flaw(BaseModel):
    where_it_is: str = Field(max_length=8)
    severity: float = Field(ge=0, le=1)


class Verdict(BaseModel):
    """What a judge is asked for."""

    score: int = Field(ge=0, le=10)
    verdict: Literal["pass", "fail"]
    sound: bool
    flaws: list[Flaw] = Field(min_length=2)
    remark: str | None


@dataclass(frozen=True)
class Judged:
    text: str | None
    finish: str
    refusal: str | None = None


Judge = Callable[[], Judged]
QUESTION = "How good is the second image?"


@pytest.fixture(params=["gemini", "openai"])
def judge(request: pytest.FixtureRequest) -> Judge:
    """Ask for a `Verdict` on two images."""
    return through_gemini(request) if request.param == "gemini" else through_openai(request)


def through_gemini(request: pytest.FixtureRequest) -> Judge:
    from google.genai import types

    client: Client = request.getfixturevalue("gemini")
    image = types.Part.from_bytes(data=photo(), mime_type="image/png")
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Verdict)

    def do() -> Judged:
        contents = types.Content(role="user", parts=[image, image, types.Part.from_text(text=QUESTION)])
        answer = client.models.generate_content(model="gemini-fake", contents=contents, config=config)
        if not answer.candidates:
            return Judged(None, "none")
        (candidate,) = answer.candidates
        parts = candidate.content.parts if candidate.content and candidate.content.parts else None
        assert candidate.finish_reason
        return Judged(parts[-1].text if parts else None, candidate.finish_reason.value)

    return do


def through_openai(request: pytest.FixtureRequest) -> Judge:
    client: OpenAI = request.getfixturevalue("openai")
    url = f"data:image/png;base64,{base64.b64encode(photo()).decode()}"
    schema: Any = {"name": "Verdict", "schema": Verdict.model_json_schema(), "strict": True}
    question: list[Any] = [
        {"type": "image_url", "image_url": {"url": url, "detail": "low"}},
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": QUESTION},
    ]

    def do() -> Judged:
        answer = client.chat.completions.create(
            model="fake-judge",
            messages=[{"role": "system", "content": "You are a judge."}, {"role": "user", "content": question}],
            response_format={"type": "json_schema", "json_schema": schema},
            temperature=0,
            seed=1,
        )
        if not answer.choices:
            return Judged(None, "none")
        (choice,) = answer.choices
        return Judged(choice.message.content, choice.finish_reason, choice.message.refusal)

    return do


def test_plain_answer_fits_the_schema(fake_server: FakeServer, judge: Judge) -> None:
    first = judge()
    assert first.finish in ("STOP", "stop")
    verdict = Verdict.model_validate_json(first.text or "")
    assert (verdict.score, verdict.verdict, verdict.flaws[0].severity) == (7, "pass", 0.7)
    assert judge() == first
    entry = fake_server.requests("judge")[0]
    assert entry["text"] == QUESTION
    assert [image["width"] for image in entry["images"]] == [64, 64]


def test_values_of_the_script(fake_server: FakeServer, judge: Judge) -> None:
    fake_server.script(judge={"score": 3, "remark": "blurred"})
    verdict = Verdict.model_validate_json(judge().text or "")
    assert (verdict.score, verdict.remark) == (3, "blurred")
    fake_server.script(judge={"score": 3, "verdict": "fail"}, judge_queue=["score:9"])
    found = json.loads(judge().text or "")
    assert (found["score"], found["verdict"]) == (9, "fail"), "an answer's numbers win, other values stay"


def test_score_of_one_call(fake_server: FakeServer, judge: Judge) -> None:
    fake_server.script(answers={"judge.2": "score:1"})
    assert [json.loads(judge().text or "")["score"] for _ in range(3)] == [7, 1, 7]


def test_out_of_range(fake_server: FakeServer, judge: Judge) -> None:
    """C30."""
    fake_server.judge("out_of_range")
    answer = judge().text or ""
    with pytest.raises(ValidationError):
        Verdict.model_validate_json(answer)
    assert json.loads(answer)["score"] == 11


def test_contradiction(fake_server: FakeServer, judge: Judge) -> None:
    fake_server.judge("contradiction")
    verdict = Verdict.model_validate_json(judge().text or "")
    assert (verdict.score, verdict.verdict) == (0, "pass")


def test_cut_at_the_token_limit(fake_server: FakeServer, judge: Judge) -> None:
    fake_server.judge("cut")
    answer = judge()
    assert answer.finish in ("MAX_TOKENS", "length")
    assert (answer.text or "").startswith('{"score": 7')
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer.text or "")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("no_json", "The image looks much like the one before."),
        ('text:{"score": 4} + more', '{"score": 4} + more'),
        ("empty", ""),
    ],
)
def test_texts(fake_server: FakeServer, judge: Judge, answer: str, text: str) -> None:
    fake_server.judge(answer)
    assert judge().text == text


def test_fenced(fake_server: FakeServer, judge: Judge) -> None:
    fake_server.judge("fenced")
    text = judge().text or ""
    assert Verdict.model_validate_json(text.split("```json")[1].split("```")[0])


def test_content_filter(fake_server: FakeServer, judge: Judge) -> None:
    """C31."""
    fake_server.judge("filtered")
    answer = judge()
    assert (answer.text, answer.finish in ("SAFETY", "content_filter")) == (None, True)


def test_refusal(fake_server: FakeServer, judge: Judge) -> None:
    fake_server.judge("refusal")
    answer = judge()
    assert "can't help" in (answer.refusal or answer.text or "")


def test_ends_otherwise(fake_server: FakeServer, judge: Judge) -> None:
    fake_server.judge("finish:OTHER", "no_candidates")
    assert (judge(), judge()) == (Judged(None, "OTHER"), Judged(None, "none"))


def test_editors_and_judges_are_counted_apart(fake_server: FakeServer, judge: Judge, edit: Callable[..., Any]) -> None:
    fake_server.script(answers={"2": "no_image", "judge.2": "no_json"})
    edit()
    assert (judge().text or "").startswith("{")
    assert edit().candidates[0].finish_reason == "NO_IMAGE"
    assert not (judge().text or "").startswith("{")
    calls = [(entry["kind"], entry["call"], entry["answer"]) for entry in fake_server.requests()]
    assert calls == [("edit", 1, "ok"), ("judge", 1, "ok"), ("edit", 2, "no_image"), ("judge", 2, "no_json")]


def test_blocked_prompt_of_a_gemini_judge(fake_server: FakeServer, gemini: Client) -> None:
    fake_server.judge("blocked:SAFETY")
    answer = gemini.models.generate_content(model="gemini-fake", contents=QUESTION)
    assert answer.prompt_feedback
    assert answer.prompt_feedback.block_reason == "SAFETY"


def test_reasoning_of_a_judge(fake_server: FakeServer, gemini: Client) -> None:
    from google.genai import types

    fake_server.script(reasoning="Because.")
    config = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))
    answer = gemini.models.generate_content(model="gemini-fake", contents=QUESTION, config=config)
    assert answer.candidates
    assert answer.candidates[0].content
    assert [part.thought for part in answer.candidates[0].content.parts or []] == [True, None]


def test_sdk_parses_the_answer_itself(openai: OpenAI) -> None:
    chat = openai.chat.completions.parse(
        model="m", messages=[{"role": "user", "content": QUESTION}], response_format=Verdict
    )
    assert chat.choices[0].message.parsed
    assert chat.choices[0].message.parsed.score == 7
