"""What google-genai sees when there is no image, and when there is no answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from .process import FakeServer

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentResponse

Edit = Callable[..., "GenerateContentResponse"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("no_image", "NO_IMAGE"),
        ("finish:IMAGE_SAFETY", "IMAGE_SAFETY"),
        ("finish:IMAGE_PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT"),
        ("finish:IMAGE_RECITATION", "IMAGE_RECITATION"),
        ("finish:IMAGE_OTHER", "IMAGE_OTHER"),
        ("finish:SAFETY", "SAFETY"),
        ("finish:MAX_TOKENS", "MAX_TOKENS"),
        ("finish:MISSING_THOUGHT_SIGNATURE", "MISSING_THOUGHT_SIGNATURE"),
        ("no_content", "STOP"),
    ],
)
def test_ends_without_content(fake_server: FakeServer, edit: Edit, answer: str, reason: str) -> None:
    """C20."""
    fake_server.answer(answer)
    response = edit()
    assert response.candidates
    assert response.candidates[0].finish_reason == reason
    assert response.candidates[0].content is None
    assert response.usage_metadata
    assert response.usage_metadata.candidates_token_count == 0


def test_a_finish_reason_that_nobody_knows(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("finish:BRAND_NEW_VALUE")
    with pytest.warns(UserWarning, match="BRAND_NEW_VALUE is not a valid FinishReason"):
        response = edit()
    assert response.candidates
    assert response.candidates[0].finish_reason == "BRAND_NEW_VALUE"


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY"])
def test_blocked_prompt(fake_server: FakeServer, edit: Edit, reason: str) -> None:
    fake_server.answer(f"blocked:{reason}")
    response = edit()
    assert response.candidates is None
    assert response.prompt_feedback
    assert response.prompt_feedback.block_reason == reason


def test_no_candidates(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("no_candidates")
    response = edit()
    assert (response.candidates, response.prompt_feedback) == (None, None)


def test_text_only(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("text_only")
    response = edit()
    assert response.candidates
    assert response.candidates[0].content
    (part,) = response.candidates[0].content.parts or []
    assert part.text
    assert part.inline_data is None


def error_of(edit: Edit) -> Any:
    from google.genai.errors import APIError

    with pytest.raises(APIError) as caught:
        edit()
    return caught.value


@pytest.mark.parametrize(
    ("answer", "code", "status", "words"),
    [
        ("400", 400, "INVALID_ARGUMENT", "invalid argument"),
        ("400_key", 400, "INVALID_ARGUMENT", "API key not valid"),
        ("400_signature", 400, "INVALID_ARGUMENT", "Image part is missing a thought_signature"),
        ("401", 401, "UNAUTHENTICATED", "authentication"),
        ("403", 403, "PERMISSION_DENIED", "permission"),
        ("404", 404, "NOT_FOUND", "models/gemini-fake-image is not found"),
        ("429_per_minute", 429, "RESOURCE_EXHAUSTED", "quota"),
        ("429_per_day", 429, "RESOURCE_EXHAUSTED", "quota"),
        ("429_minute_and_day", 429, "RESOURCE_EXHAUSTED", "quota"),
        ("429_capacity", 429, "RESOURCE_EXHAUSTED", "Resource exhausted"),
        ("429_retry_after:3", 429, "RESOURCE_EXHAUSTED", "Resource exhausted"),
        ("500", 500, "INTERNAL", "internal error"),
        ("503", 503, "UNAVAILABLE", "overloaded"),
        ("504", 504, "DEADLINE_EXCEEDED", "Deadline"),
    ],
)
def test_errors(fake_server: FakeServer, edit: Edit, answer: str, code: int, status: str, words: str) -> None:
    fake_server.answer(answer)
    error = error_of(edit)
    assert (error.code, error.status) == (code, status)
    assert words in error.message
    assert edit().candidates, "only the first call fails"


def test_limits_say_which_they_are(fake_server: FakeServer, edit: Edit) -> None:
    """C24: only the body tells a minute from a day, and a day's comes with a short delay too."""
    fake_server.answer("429_per_minute:30", "429_per_day", "429_minute_and_day", "429_capacity", "429_retry_after:3")

    def told() -> tuple[list[str], str | None, str | None]:
        error = error_of(edit)
        details = {detail["@type"].rpartition(".")[2]: detail for detail in error.details["error"].get("details", [])}
        violations = details.get("QuotaFailure", {}).get("violations", [])
        windows = [word for one in violations for word in ("PerMinute", "PerDay") if word in one["quotaId"]]
        delay = details.get("RetryInfo", {}).get("retryDelay")
        return windows, delay, error.response.headers.get("retry-after")

    assert told() == (["PerMinute"], "30s", None)
    assert told() == (["PerDay"], "17s", None)
    assert told() == (["PerMinute", "PerDay"], "17s", None)
    assert told() == ([], None, None)
    assert told() == ([], None, "3")


@pytest.fixture
def impatient(gemini: Client) -> Callable[[], Any]:
    """A call with a deadline of a fifth of a second."""
    from google.genai import types

    config = types.GenerateContentConfig(http_options=types.HttpOptions(timeout=200))
    return lambda: gemini.models.generate_content(model="gemini-fake-image", contents="Draw a cat.", config=config)


@pytest.mark.parametrize("answer", ["hang", "hang:30", "slow:30"])
def test_never_answers(fake_server: FakeServer, impatient: Callable[[], Any], answer: str) -> None:
    """C25."""
    fake_server.answer(answer)
    with pytest.raises(httpx2.ReadTimeout):
        impatient()


def test_slow_but_answers(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("slow:0.3", "slow:0.3+no_image")
    started = time.monotonic()
    assert edit().candidates
    response = edit()
    assert response.candidates
    assert response.candidates[0].finish_reason == "NO_IMAGE"
    assert time.monotonic() - started >= 0.6


@pytest.mark.parametrize("answer", ["drop", "hang:0.05"])
def test_connection_is_cut(fake_server: FakeServer, edit: Edit, answer: str) -> None:
    fake_server.answer(answer)
    with pytest.raises(httpx2.RemoteProtocolError, match="without sending complete message body"):
        edit()
    assert edit().candidates


@pytest.mark.parametrize("answer", ["malformed", "html:200"])
def test_not_json(fake_server: FakeServer, edit: Edit, answer: str) -> None:
    fake_server.answer(answer)
    with pytest.raises(JSONDecodeError):
        edit()


@pytest.mark.parametrize("answer", ["html", "html:502"])
def test_page_of_a_proxy(fake_server: FakeServer, edit: Edit, answer: str) -> None:
    fake_server.answer(answer)
    error = error_of(edit)
    assert error.code == 502
    assert "<html>" in error.message


def test_image_that_cannot_be_read(fake_server: FakeServer, edit: Edit) -> None:
    from google.genai.errors import ClientError

    with pytest.raises(ClientError, match="Unable to process input image"):
        edit(b"\x89PNG but not really")


def test_key_that_is_required(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.script(require_key="another-key")
    error = error_of(edit)
    assert error.code == 400
    assert error.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    fake_server.script(require_key="AIza-not-a-real-key")
    assert edit().candidates
    assert [entry["call"] for entry in fake_server.requests()][-1] == 1


def test_answer_of_another_endpoint_is_a_loud_error(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("url_only")
    error = error_of(edit)
    assert error.code == 501
    assert "url_only" in error.message
    assert "change the script" in error.message
