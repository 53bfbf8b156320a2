"""The Gemini editor against a server in another process: every way of answering and of failing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.fake_server.process import FakeServer

from turngate import Edited, EditRequest, NoImage, Picture
from turngate.agent.editors import EDITORS
from turngate.agent.editors.remote import GeminiConfig, GeminiEditor
from turngate.errors import ConfigError, MissingKey, QuotaExhausted, UserError

from .conftest import QUICK

Ask = Callable[..., Edited | NoImage]


def edited(answer: Edited | NoImage) -> Edited:
    assert isinstance(answer, Edited), answer
    return answer


def none(answer: Edited | NoImage) -> NoImage:
    assert isinstance(answer, NoImage), answer
    return answer


def test_an_edit_brings_image_reasoning_usage_cost_and_version(
    ask: Ask, fake_server: FakeServer, photo: Picture
) -> None:
    fake_server.answer("model:gemini-3-pro-image-001")
    answer = edited(ask("gemini"))
    assert Picture.from_bytes(answer.data).sha256 != photo.sha256
    assert answer.reasoning
    assert answer.model == "gemini-3-pro-image-001"
    assert answer.usage.input_tokens
    assert answer.usage.cost_usd == pytest.approx(0.1344, rel=0.3)
    assert answer.served is not None
    assert (answer.served.provider, answer.served.finish_reason) == ("gcp.gemini", "STOP")
    assert answer.served.response_id


def test_what_is_asked_for_arrives(ask: Ask, fake_server: FakeServer, photo: Picture) -> None:
    settings = {
        "model": "gemini-nano-banana-2.1", "image_size": "2K", "aspect_ratio": "16:9", "temperature": 1.0,
        "thinking_level": "high",
    }  # fmt: skip
    ask("gemini", settings, headers={"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"})
    (arrived,) = fake_server.requests("edit")
    assert arrived["model"] == "gemini-nano-banana-2.1"
    assert arrived["images"][0]["sha256"] == photo.sha256
    assert arrived["seed"] == 7
    assert arrived["headers"]["traceparent"].startswith("00-aaaa")
    config = str(arrived["config"])
    for wanted in ("'2K'", "'16:9'", "1.0", "HIGH", "IMAGE"):
        assert wanted in config


def test_no_seed_is_sent_when_none_is_wanted(ask: Ask, fake_server: FakeServer) -> None:
    ask("gemini", send_seed=False)
    (arrived,) = fake_server.requests("edit")
    assert arrived["seed"] is None


def test_thoughts_can_be_left_out(ask: Ask) -> None:
    assert edited(ask("gemini", {"thoughts": False})).reasoning is None


def test_anchor_sends_both_images(ask: Ask, fake_server: FakeServer, photo: Picture) -> None:
    other = Picture.from_rgb(255 - photo.rgb)
    ask("gemini", images=(other, photo), history="anchor")
    (arrived,) = fake_server.requests("edit")
    assert [image["sha256"] for image in arrived["images"]] == [other.sha256, photo.sha256]


def test_interim_images_are_kept_and_the_last_one_is_the_result(ask: Ask, fake_server: FakeServer) -> None:
    """C21."""
    fake_server.answer("interim:2")
    answer = edited(ask("gemini"))
    assert [extra.role for extra in answer.extras] == ["interim", "interim"]
    assert all(extra.data != answer.data for extra in answer.extras)
    assert "image_from_thought" not in answer.flags


def test_an_image_that_stands_only_in_a_thought_is_found_and_flagged(ask: Ask, fake_server: FakeServer) -> None:
    """C22."""
    fake_server.answer("thought_image_only")
    answer = edited(ask("gemini"))
    assert "image_from_thought" in answer.flags
    Picture.from_bytes(answer.data)


def test_a_wrongly_declared_type_is_kept_as_received(ask: Ask, fake_server: FakeServer) -> None:
    fake_server.answer("jpeg_as_png")
    answer = edited(ask("gemini"))
    assert Picture.from_bytes(answer.data).media_type == "image/jpeg"
    assert answer.metadata["declared_media_type"] == "image/png"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "why", "retryable"),
    [
        ("no_candidates", "empty", True),
        ("no_image", "no_image", True),
        ("text_only", "no_image", True),
        ("finish:IMAGE_SAFETY", "safety", True),
        ("finish:SAFETY", "safety", True),
        ("finish:IMAGE_PROHIBITED_CONTENT", "prohibited", True),
        ("finish:IMAGE_RECITATION", "recitation", True),
        ("finish:IMAGE_OTHER", "other", True),
        ("finish:BRAND_NEW_VALUE", "other", True),
        ("finish:MAX_TOKENS", "other", True),
        ("no_content", "no_image", True),
        ("blocked:PROHIBITED_CONTENT", "blocked_prompt", False),
        ("blocked:BRAND_NEW_VALUE", "blocked_prompt", False),
        ("400", "bad_request", False),
    ],
)
def test_every_ending_without_an_image_is_typed(
    ask: Ask, fake_server: FakeServer, script: str, why: str, retryable: bool
) -> None:
    """C20, and 400 of C24: one call each."""
    fake_server.answer(script)
    answer = none(ask("gemini"))
    assert (answer.why, answer.retryable) == (why, retryable)
    assert answer.detail
    assert len(fake_server.requests("edit")) == 1


def test_a_limit_per_minute_is_waited_for_as_told(ask: Ask, fake_server: FakeServer) -> None:
    """C24."""
    fake_server.answer("429_per_minute:0.3")
    answer = edited(ask("gemini"))
    assert answer.served is not None
    (failed,) = answer.served.tries
    assert (failed.why, failed.waited) == ("per_minute", 0.3)
    assert answer.usage.waited_seconds == pytest.approx(0.3)


def test_a_limit_per_minute_that_does_not_end_is_no_image(ask: Ask, fake_server: FakeServer) -> None:
    fake_server.answer(default="429_per_minute:0.01")
    answer = none(ask("gemini", {"retry": {**QUICK, "tries": 3}}))
    assert (answer.why, answer.retryable) == ("rate_limit", True)
    assert len(fake_server.requests("edit")) == 3


@pytest.mark.parametrize("script", ["429_per_day", "429_minute_and_day"])
def test_a_limit_per_day_stops_the_run_and_says_when_to_resume(ask: Ask, fake_server: FakeServer, script: str) -> None:
    """C24."""
    fake_server.answer(script)
    with pytest.raises(QuotaExhausted, match="resume the run after the reset"):
        ask("gemini")
    assert len(fake_server.requests("edit")) == 1


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("429_capacity", "capacity"), ("500", "unavailable"), ("503", "unavailable"), ("504", "unavailable"),
        ("drop", "transport"), ("malformed", "malformed"), ("html:502", "unavailable"), ("html:200", "malformed"),
    ],
)  # fmt: skip
def test_what_may_pass_is_tried_again(ask: Ask, fake_server: FakeServer, script: str, why: str) -> None:
    """C24."""
    fake_server.answer(script)
    answer = edited(ask("gemini"))
    assert answer.served is not None
    assert [one.why for one in answer.served.tries] == [why]


def test_a_server_that_never_answers_costs_waiting_time_not_work(ask: Ask, fake_server: FakeServer) -> None:
    """C25."""
    fake_server.answer("hang:30")
    answer = edited(ask("gemini", {"retry": {**QUICK, "deadline_seconds": 1.0}}))
    assert answer.served is not None
    assert [one.why for one in answer.served.tries] == ["timeout"]
    assert answer.usage.waited_seconds >= 1.0


def test_a_server_that_is_not_there_is_unavailable(ask: Ask) -> None:
    answer = none(ask("gemini", {"base_url": "http://127.0.0.1:9", "retry": {**QUICK, "tries": 2}}))
    assert answer.why == "unavailable"
    assert "2 tries" in answer.detail


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        ("400_key", MissingKey, "refuses the key in GEMINI_API_KEY"),
        ("401", MissingKey, "refuses the key"),
        ("403", MissingKey, "refuses the key"),
        ("404", ConfigError, "knows no 'gemini-3-pro-image'"),
        ("400_signature", UserError, "history: previous"),
        ("finish:MISSING_THOUGHT_SIGNATURE", UserError, "history: previous"),
    ],
)
def test_what_no_later_call_can_mend_is_raised(
    ask: Ask, fake_server: FakeServer, script: str, error: type[Exception], words: str
) -> None:
    """C23 and the user's mistakes."""
    fake_server.answer(script)
    with pytest.raises(error, match=words):
        ask("gemini")
    assert len(fake_server.requests("edit")) == 1


def test_a_missing_key_is_told_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingKey, match=r"export GEMINI_API_KEY="):
        EDITORS.build(EDITORS.configure("gemini", "editor"))


def test_garbage_is_left_for_the_loop_to_judge(ask: Ask, fake_server: FakeServer) -> None:
    fake_server.answer("garbage")
    assert edited(ask("gemini")).data


def test_asynchronous_code_awaits_the_same_edit(fake_server: FakeServer, photo: Picture) -> None:
    editor = GeminiEditor(GeminiConfig(type="gemini", base_url=fake_server.base_url))

    async def many() -> list[Any]:
        return await asyncio.gather(*(editor.edit_async(EditRequest((photo,), "Copy.", 1, 1, n)) for n in range(4)))

    images = {edited(answer).data for answer in asyncio.run(many())}
    assert len(images) == 4
