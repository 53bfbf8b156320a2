"""Editing through google-genai: what comes back when an image does."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from turngate.picture import Picture

from ._images import photo, pixels
from ._parts import image_of, parts_of
from .process import FakeServer, start_fake_server

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentResponse

Edit = Callable[..., "GenerateContentResponse"]
THOUGHTS = {"thinking_config": {"include_thoughts": True}}


def test_an_edit_is_the_image_with_a_little_noise(edit: Edit) -> None:
    response = edit(seed=7)
    assert response.candidates
    assert response.candidates[0].finish_reason == "STOP"
    difference = pixels(image_of(response)) - pixels(photo())
    assert 1.5 < difference.std() < 2.5
    assert abs(difference.mean()) < 0.2
    assert parts_of(response)[-1].thought_signature


def test_same_request_same_bytes(edit: Edit) -> None:
    first = image_of(edit(seed=7))
    assert image_of(edit(seed=7)) == first
    assert image_of(edit(seed=8)) != first
    assert image_of(edit()) == image_of(edit())
    with start_fake_server() as another:
        from google.genai import Client, types

        client = Client(api_key="x", http_options=types.HttpOptions(base_url=another.base_url))
        sent = types.Part.from_bytes(data=photo(), mime_type="image/png")
        content = types.Content(role="user", parts=[sent, types.Part.from_text(text="Other words.")])
        config = types.GenerateContentConfig(response_modalities=["TEXT", "IMAGE"], seed=7)
        response = client.models.generate_content(model="gemini-fake-image", contents=content, config=config)
        client.close()
    assert image_of(response) == first


def test_edits_decay_over_turns(edit: Edit) -> None:
    """A seed of each turn averages out, the same seed adds up (C8)."""
    origin = pixels(photo())

    def after(turns: int, seed: Callable[[int], int]) -> float:
        image = photo()
        for turn in range(turns):
            image = image_of(edit(image, seed=seed(turn)))
        return float((pixels(image) - origin).std())

    one, many = after(1, lambda turn: turn), after(9, lambda turn: turn)
    assert 2 * one < many < 4 * one
    assert after(9, lambda turn: 5) > 1.8 * many


def test_reasoning_summary_and_usage(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.script(reasoning="I thought about it.")
    thought, image = parts_of(edit(**THOUGHTS))
    assert (thought.thought, thought.text) == (True, "I thought about it.")
    assert not image.thought
    usage = edit(**THOUGHTS).usage_metadata
    assert usage
    assert usage.thoughts_token_count
    assert usage.prompt_token_count
    assert usage.candidates_token_count
    counted = usage.prompt_token_count + usage.candidates_token_count + usage.thoughts_token_count
    assert usage.total_token_count == counted
    assert {detail.modality for detail in usage.prompt_tokens_details or []} == {"TEXT", "IMAGE"}


def test_interim_images_come_before_the_final_one(fake_server: FakeServer, edit: Edit) -> None:
    """C21."""
    fake_server.answer("interim:2")
    thought, one, two, final = parts_of(edit(**THOUGHTS))
    assert [part.thought for part in (thought, one, two, final)] == [True, True, True, None]
    images = [part.inline_data.data for part in (one, two, final) if part.inline_data]
    assert len(set(images)) == 3
    assert final.thought_signature


def test_only_a_thought_has_the_image(fake_server: FakeServer, edit: Edit) -> None:
    """C22."""
    fake_server.answer("thought_image_only")
    (part,) = parts_of(edit())
    assert part.thought
    assert part.inline_data


def test_nothing_was_done(fake_server: FakeServer, edit: Edit) -> None:
    """C5."""
    fake_server.answer("same")
    assert image_of(edit()) == photo()


@pytest.mark.parametrize(
    ("mode", "media_type", "pillow_mode"),
    [
        ("png", "image/png", "RGB"),
        ("jpeg", "image/jpeg", "RGB"),
        ("webp", "image/webp", "RGB"),
        ("rgba", "image/png", "RGBA"),
        ("palette", "image/png", "P"),
        ("cmyk", "image/jpeg", "CMYK"),
        ("gray16", "image/png", "I;16"),
        ("exif", "image/jpeg", "RGB"),
    ],
)
def test_other_modes(fake_server: FakeServer, edit: Edit, mode: str, media_type: str, pillow_mode: str) -> None:
    """C26."""
    fake_server.answer(f"as:{mode}")
    response = edit()
    inline = parts_of(response)[-1].inline_data
    assert inline
    assert inline.mime_type == media_type
    opened = Image.open(io.BytesIO(image_of(response)))
    assert (Image.MIME[str(opened.format)], opened.mode) == (media_type, pillow_mode)
    assert (opened.getexif().get(0x0112) == 6) is (mode == "exif")


def test_declared_type_is_wrong(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("jpeg_as_png")
    response = edit()
    inline = parts_of(response)[-1].inline_data
    assert inline
    assert inline.mime_type == "image/png"
    assert Picture.from_bytes(image_of(response)).media_type == "image/jpeg"


def test_another_size(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("size:80x48+as:jpeg")
    picture = Picture.from_bytes(image_of(edit()))
    assert (picture.width, picture.height, picture.media_type) == (80, 48, "image/jpeg")


def test_bytes_that_are_no_image(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.answer("garbage", "empty")
    assert image_of(edit()) == b"this is not an image"
    assert image_of(edit()) == b""


def test_model_changes_in_mid_run(fake_server: FakeServer, edit: Edit) -> None:
    """C28."""
    fake_server.script(answers={"2-3": "model:gemini-fake-image-002"})
    assert [edit().model_version for _ in range(4)] == [
        "gemini-fake-image", "gemini-fake-image-002", "gemini-fake-image-002", "gemini-fake-image",
    ]  # fmt: skip


def test_file_type_and_noise_of_the_script(fake_server: FakeServer, edit: Edit) -> None:
    fake_server.script(answers={"default": "as:jpeg"})
    assert Picture.from_bytes(image_of(edit())).media_type == "image/jpeg"
    fake_server.script(noise=0)
    assert np.array_equal(pixels(image_of(edit())), pixels(photo()))


def test_no_image_was_sent(fake_server: FakeServer, gemini: Client) -> None:
    response = gemini.models.generate_content(model="gemini-fake-image", contents="Draw a cat.")
    assert Picture.from_bytes(image_of(response)).width == 256


def test_stream(fake_server: FakeServer, gemini: Client) -> None:
    fake_server.answer("interim:1")
    chunks = list(gemini.models.generate_content_stream(model="gemini-fake-image", contents="Draw a cat."))
    assert len(chunks) == 2
    assert [bool(chunk.usage_metadata) for chunk in chunks] == [False, True]
    assert image_of(chunks[-1])


def test_twenty_calls_at_once(fake_server: FakeServer, gemini: Client) -> None:
    from google.genai import types

    config = types.GenerateContentConfig(response_modalities=["IMAGE"])

    async def call(number: int) -> bytes:
        part = types.Part.from_bytes(data=photo(), mime_type="image/png")
        content = types.Content(role="user", parts=[part, types.Part.from_text(text=f"Edit {number}.")])
        return image_of(
            await gemini.aio.models.generate_content(model="gemini-fake-image", contents=content, config=config)
        )

    async def all_at_once() -> list[bytes]:
        found = await asyncio.gather(*(call(number) for number in range(20)))
        await gemini.aio.aclose()
        return found

    assert len(set(asyncio.run(all_at_once()))) == 20
    assert sorted(entry["call"] for entry in fake_server.requests("edit")) == list(range(1, 21))
