"""C23: a conversation must give each image back with its thought signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from ._images import photo, pixels
from ._parts import image_of, parts_of
from .process import FakeServer

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentResponse


@pytest.fixture
def talk(fake_server: FakeServer, gemini: Client) -> Callable[[bytes | None], Any]:
    """Edit, then ask for more with the signature replaced."""
    from google.genai import types

    fake_server.script(require_signatures=True)
    config = types.GenerateContentConfig(response_modalities=["IMAGE"])

    def do(signature: bytes | None) -> GenerateContentResponse:
        sent = types.Part.from_bytes(data=photo(), mime_type="image/png")
        begun = [types.Content(role="user", parts=[sent, types.Part.from_text(text="Brighten it.")])]
        answer = gemini.models.generate_content(model="gemini-fake-image", contents=[*begun], config=config)
        (part,) = parts_of(answer)
        if signature != b"as it came":
            part.thought_signature = signature
        model = types.Content(role="model", parts=[part])
        more = types.Content(role="user", parts=[types.Part.from_text(text="Now darken it.")])
        return gemini.models.generate_content(model="gemini-fake-image", contents=[*begun, model, more], config=config)

    return do


def test_signature_is_kept(fake_server: FakeServer, talk: Callable[[bytes | None], Any]) -> None:
    response = talk(b"as it came")
    assert 2 < (pixels(image_of(response)) - pixels(photo())).std() < 4
    (_, entry) = fake_server.requests("edit")
    assert [message["parts"] for message in entry["messages"]] == [["image", "text"], ["image+signature"], ["text"]]
    assert entry["text"] == "Now darken it."


def test_signature_is_lost(talk: Callable[[bytes | None], Any]) -> None:
    from google.genai.errors import ClientError

    with pytest.raises(ClientError, match="missing a thought_signature in content position 2") as caught:
        talk(None)
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")


def test_signature_is_damaged(talk: Callable[[bytes | None], Any]) -> None:
    from google.genai.errors import ClientError

    with pytest.raises(ClientError, match="Corrupted thought signature"):
        talk(b"another one")
