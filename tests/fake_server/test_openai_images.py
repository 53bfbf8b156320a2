"""Editing through the OpenAI SDK."""

from __future__ import annotations

import base64
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import openai as sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.fake_server.openai.request import read_form
from turngate.picture import Picture

from ._images import photo, pixels
from .process import FakeServer

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import ImagesResponse

Edit = Callable[..., "ImagesResponse"]


@pytest.fixture
def edit(openai: OpenAI) -> Edit:
    """One edit of one image."""

    def do(**fields: Any) -> ImagesResponse:
        wanted = {"image": ("a.png", photo(), "image/png"), "prompt": "Make an exact replica.", "model": "m", **fields}
        answer = openai.images.edit(**wanted)
        assert isinstance(answer, sdk.types.ImagesResponse)
        return answer

    return do


def images_of(answer: ImagesResponse) -> list[bytes]:
    return [base64.b64decode(image.b64_json or "") for image in answer.data or []]


def test_an_edit_is_the_image_with_a_little_noise(fake_server: FakeServer, edit: Edit) -> None:
    answer = edit(quality="high")
    (image,) = images_of(answer)
    assert 1.5 < (pixels(image) - pixels(photo())).std() < 2.5
    assert images_of(edit()) == [image]
    assert answer.usage
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens
    (entry, _) = fake_server.requests("edit")
    assert (entry["text"], entry["config"]) == ("Make an exact replica.", {"quality": "high"})
    assert entry["images"][0]["sha256"] == Picture.from_bytes(photo()).sha256


def test_several_images_in_and_out(fake_server: FakeServer, edit: Edit) -> None:
    """The last one that was sent is edited."""
    files = [("origin.png", photo(32), "image/png"), ("current.png", photo(), "image/png")]
    images = images_of(edit(image=files, n=3, extra_body={"seed": 4}))
    assert len(set(images)) == 3
    assert {Picture.from_bytes(image).width for image in images} == {64}
    (entry,) = fake_server.requests("edit")
    assert ([image["width"] for image in entry["images"]], entry["seed"]) == ([32, 64], 4)


def test_size_and_file_type_as_asked_for(edit: Edit) -> None:
    answer = edit(size="96x64", output_format="webp")
    picture = Picture.from_bytes(images_of(answer)[0])
    assert (picture.width, picture.height, picture.media_type) == (96, 64, "image/webp")
    assert answer.output_format == "webp"


def test_scripted_images(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("same", "jpeg_as_png", "size:40x30+as:jpeg", "garbage", "empty", "model:m-2")
    assert images_of(edit()) == [photo()]
    answer = edit()
    assert (answer.output_format, Picture.from_bytes(images_of(answer)[0]).media_type) == ("png", "image/jpeg")
    picture = Picture.from_bytes(images_of(edit())[0])
    assert (picture.width, picture.height) == (40, 30)
    assert images_of(edit()) == [b"this is not an image"]
    assert images_of(edit()) == [b""]
    assert edit().model_dump()["model"] == "m-2"


def test_no_image(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("no_image")
    assert edit().data == []


def test_address_instead_of_an_image(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("url_only")
    (image,) = edit().data or []
    assert image.b64_json is None
    assert image.url
    with urllib.request.urlopen(image.url) as answer:
        assert Picture.from_bytes(answer.read()).width == 64


@pytest.mark.parametrize(
    ("answer", "error", "code", "words"),
    [
        ("400", sdk.BadRequestError, None, "invalid"),
        ("moderation_blocked", sdk.BadRequestError, "moderation_blocked", "safety system"),
        ("401", sdk.AuthenticationError, "invalid_api_key", "API key"),
        ("403", sdk.PermissionDeniedError, "model_not_found", "`m`"),
        ("404", sdk.NotFoundError, "model_not_found", "`m`"),
        ("429_per_minute", sdk.RateLimitError, "rate_limit_exceeded", "requests per min (RPM)"),
        ("429_per_day", sdk.RateLimitError, "rate_limit_exceeded", "requests per day (RPD)"),
        ("429_capacity", sdk.RateLimitError, None, "overloaded"),
        ("429_retry_after:9", sdk.RateLimitError, None, "overloaded"),
        ("insufficient_quota", sdk.RateLimitError, "insufficient_quota", "billing"),
        ("500", sdk.InternalServerError, None, "error"),
        ("503", sdk.InternalServerError, None, "overloaded"),
        ("504", sdk.InternalServerError, None, "timed out"),
        ("html", sdk.InternalServerError, None, "502"),
        ("400_signature", sdk.InternalServerError, None, "change the script"),
    ],
)
def test_errors(
    fake_server: FakeServer, edit: Edit, answer: str, error: type[sdk.APIStatusError], code: str | None, words: str
) -> None:
    fake_server.answer(answer)
    with pytest.raises(error) as caught:
        edit()
    assert caught.value.code == code
    assert words in caught.value.message
    assert images_of(edit())


def test_limits_say_when_to_come_back(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("429_per_minute:4", "429_per_day", "429_retry_after:9")
    told = []
    for _ in range(3):
        with pytest.raises(sdk.RateLimitError) as caught:
            edit()
        headers = caught.value.response.headers
        told.append((headers.get("retry-after"), headers.get("x-ratelimit-reset-requests")))
    assert told == [("4", "4s"), (None, "7m12s"), ("9", None)]


@pytest.mark.slow
def test_the_sdk_tries_again_by_itself(fake_server: FakeServer, openai: OpenAI) -> None:
    fake_server.answer("429_retry_after:0", "503")
    openai.with_options(max_retries=2).images.edit(image=("a.png", photo(), "image/png"), prompt="x", model="m")
    assert [entry["status"] for entry in fake_server.requests("edit")] == [429, 503, 200]


def test_never_answers_or_breaks_off(fake_server: FakeServer, openai: OpenAI, edit: Edit) -> None:
    fake_server.answer("hang", "drop", "malformed")
    impatient = openai.with_options(timeout=0.2)
    with pytest.raises(sdk.APITimeoutError):
        impatient.images.edit(image=("a.png", photo(), "image/png"), prompt="x", model="m")
    with pytest.raises(sdk.APIConnectionError):
        edit()
    with pytest.raises(ValueError, match="Unterminated string"):
        edit()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"n": 11}, "n is between 1 and 10"),
        ({"size": "huge"}, "WIDTHxHEIGHT"),
        ({"output_format": "bmp"}, "png, jpeg and webp"),
        ({"prompt": ""}, "'prompt'"),
        ({"image": ("a.png", b"not an image", "image/png")}, "Unable to process"),
    ],
)
def test_wrong_requests(edit: Edit, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(sdk.BadRequestError, match=words):
        edit(**fields)


def test_key_that_is_required(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.script(require_key="another-key")
    with pytest.raises(sdk.AuthenticationError) as caught:
        edit()
    assert caught.value.code == "invalid_api_key"
    fake_server.script(require_key="sk-not-a-real-key")
    assert images_of(edit())


def test_models(openai: OpenAI, gemini: Any) -> None:
    """One path, two APIs: the key's header tells them apart."""
    assert [model.id for model in openai.models.list()] == ["fake-image", "fake-judge"]
    assert openai.models.retrieve("any/name").id == "any/name"
    assert [model.name for model in gemini.models.list()] == ["models/fake-image", "models/fake-judge"]
    assert gemini.models.get(model="any-name").name == "models/any-name"


@given(st.binary(max_size=300), st.text(alphabet=st.characters(exclude_characters="\r\n", codec="utf-8")))
def test_forms_are_read_byte_for_byte(data: bytes, text: str) -> None:
    body = (
        b'--b\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
        + data
        + b'\r\n--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n'
        + text.encode()
        + b"\r\n--b--\r\n"
    )
    image, prompt = read_form("multipart/form-data; boundary=b", body)
    assert (image.name, image.data, image.media_type) == ("image", data, "image/png")
    assert (prompt.name, prompt.data.decode(), prompt.media_type) == ("prompt", text, None)
