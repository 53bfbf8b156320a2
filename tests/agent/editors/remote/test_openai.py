"""The images-edit editor against a server in another process."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image
from tests.fake_server.process import FakeServer

from turngate import Edited, NoImage, Picture
from turngate.agent.editors import EDITORS
from turngate.errors import ConfigError, MissingKey, QuotaExhausted

from .conftest import QUICK

Ask = Callable[..., Edited | NoImage]


def edited(answer: Edited | NoImage) -> Edited:
    assert isinstance(answer, Edited), answer
    return answer


def none(answer: Edited | NoImage) -> NoImage:
    assert isinstance(answer, NoImage), answer
    return answer


def test_an_edit_brings_an_image_and_its_usage(ask: Ask, photo: Picture) -> None:
    prices = {"text_input": 1, "image_input": 1, "text_output": 1, "image_output": 10}
    answer = edited(ask("openai", {"prices": prices}))
    assert Picture.from_bytes(answer.data).sha256 != photo.sha256
    assert answer.model == "some-model"
    assert answer.usage.output_tokens
    assert answer.usage.cost_usd is not None
    assert answer.usage.cost_usd >= answer.usage.output_tokens * 10 / 1e6
    assert answer.flags == ("seed_not_sent", "fake_server")


def test_a_model_without_a_price_has_no_cost(ask: Ask) -> None:
    assert edited(ask("openai")).usage.cost_usd is None


def test_what_is_asked_for_arrives(ask: Ask, fake_server: FakeServer, photo: Picture) -> None:
    other = Picture.from_rgb(255 - photo.rgb)
    settings = {"size": "1024x1024", "quality": "low", "send_seed": True, "response_format": "b64_json"}
    answer = edited(ask("openai", settings, images=(other, photo), history="anchor", headers={"traceparent": "00-1"}))
    (arrived,) = fake_server.requests("edit")
    assert [image["sha256"] for image in arrived["images"]] == [other.sha256, photo.sha256]
    assert arrived["config"]["seed"] == "7"
    assert arrived["text"] == "Copy it."
    assert arrived["headers"]["traceparent"] == "00-1"
    assert Picture.from_bytes(answer.data).width == 1024
    assert "seed_not_sent" not in answer.flags


def test_other_file_types_are_sent_as_png(ask: Ask, fake_server: FakeServer, photo: Picture) -> None:
    buffer = io.BytesIO()
    Image.fromarray(photo.rgb).save(buffer, "BMP")
    answer = edited(ask("openai", images=(Picture.from_bytes(buffer.getvalue()),)))
    assert "sent_as_png" in answer.flags


@pytest.mark.parametrize("kind", ["openai", "gemini"])
@pytest.mark.parametrize("what", ["orientation", "alpha", "sixteen bits"])
def test_models_see_what_metrics_see(ask: Ask, fake_server: FakeServer, photo: Picture, kind: str, what: str) -> None:
    """A file that has to be normalised goes out as the pixels that everybody else looks at."""
    buffer, image = io.BytesIO(), Image.fromarray(photo.rgb)
    if what == "orientation":
        exif = Image.Exif()
        exif[0x112] = 6
        image.save(buffer, "JPEG", exif=exif)
    elif what == "alpha":
        image.putalpha(Image.linear_gradient("L").resize(image.size))
        image.save(buffer, "PNG")
    else:
        Image.fromarray(photo.rgb[:, :, 0].astype(np.uint16) * 257).save(buffer, "PNG")
    odd = Picture.from_bytes(buffer.getvalue())
    answer = edited(ask(kind, images=(odd,)))
    (arrived,) = fake_server.requests("edit")
    assert "sent_as_png" in answer.flags
    assert arrived["images"][0]["sha256"] == Picture.from_rgb(odd.rgb).sha256


@pytest.mark.parametrize(
    ("script", "why", "retryable"),
    [
        ("no_image", "no_image", True),
        ("url_only", "no_image", False),
        ("moderation_blocked", "safety", True),
        ("400", "bad_request", False),
    ],
)
def test_every_ending_without_an_image_is_typed(
    ask: Ask, fake_server: FakeServer, script: str, why: str, retryable: bool
) -> None:
    fake_server.answer(script)
    answer = none(ask("openai"))
    assert (answer.why, answer.retryable) == (why, retryable)
    assert len(fake_server.requests("edit")) == 1


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("429_per_minute:0.1", "per_minute"), ("503", "unavailable"), ("500", "unavailable"), ("504", "unavailable"),
        ("drop", "transport"), ("malformed", "malformed"), ("html:502", "unavailable"),
        ("html:200", "malformed"),
    ],
)  # fmt: skip
def test_what_may_pass_is_tried_again(ask: Ask, fake_server: FakeServer, script: str, why: str) -> None:
    fake_server.answer(script)
    answer = edited(ask("openai"))
    assert answer.served is not None
    assert [one.why for one in answer.served.tries] == [why]


def test_retry_after_is_kept_unless_it_is_too_long(ask: Ask, fake_server: FakeServer) -> None:
    fake_server.answer("429_retry_after:3600")
    answer = none(ask("openai"))
    assert answer.why == "rate_limit"
    assert len(fake_server.requests("edit")) == 1


def test_a_server_that_never_answers_costs_waiting_time_not_work(ask: Ask, fake_server: FakeServer) -> None:
    fake_server.answer("hang:30")
    answer = edited(ask("openai", {"retry": {**QUICK, "deadline_seconds": 1.0}}))
    assert answer.served is not None
    assert [one.why for one in answer.served.tries] == ["timeout"]
    assert answer.usage.waited_seconds >= 1.0


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        ("insufficient_quota", QuotaExhausted, "resume the run"),
        ("401", MissingKey, "refuses the key in OPENAI_API_KEY"),
        ("404", ConfigError, "knows no 'some-model'"),
    ],
)
def test_what_no_later_call_can_mend_is_raised(
    ask: Ask, fake_server: FakeServer, script: str, error: type[Exception], words: str
) -> None:
    fake_server.answer(script)
    with pytest.raises(error, match=words):
        ask("openai")


def test_a_missing_key_is_told_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKey, match=r"export OPENAI_API_KEY="):
        EDITORS.build(EDITORS.configure({"type": "openai", "model": "gpt-image-1-mini"}, "editor"))
