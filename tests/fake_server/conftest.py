"""Real SDKs against the server in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ._images import photo
from .process import FakeServer, fake_server, fake_server_process

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentResponse
    from openai import OpenAI

__all__ = ["fake_server", "fake_server_process"]


@pytest.fixture(scope="session")
def gemini_client(fake_server_process: FakeServer) -> Iterator[Client]:
    """One client for all tests: making one takes as long as ten calls."""
    from google.genai import Client, types

    options = types.HttpOptions(base_url=fake_server_process.base_url)
    client = Client(api_key="AIza-not-a-real-key", http_options=options)
    yield client
    client.close()


@pytest.fixture(scope="session")
def openai_client(fake_server_process: FakeServer) -> Iterator[OpenAI]:
    """One client for all tests."""
    from openai import OpenAI

    with OpenAI(base_url=fake_server_process.openai_url, api_key="sk-not-a-real-key", max_retries=0) as client:
        yield client


@pytest.fixture
def gemini(fake_server: FakeServer, gemini_client: Client) -> Client:
    """google-genai, which does not try again by itself, and a server that has seen nothing yet."""
    return gemini_client


@pytest.fixture
def openai(fake_server: FakeServer, openai_client: OpenAI) -> OpenAI:
    """The OpenAI SDK without retries of its own, and a server that has seen nothing yet."""
    return openai_client


@pytest.fixture
def edit(gemini: Client) -> Callable[..., GenerateContentResponse]:
    """One stateless edit: image and instruction in, whatever comes back out."""
    from google.genai import types

    def do(image: bytes | None = None, **settings: Any) -> GenerateContentResponse:
        part = types.Part.from_bytes(data=image or photo(), mime_type="image/png")
        return gemini.models.generate_content(
            model="gemini-fake-image",
            contents=types.Content(role="user", parts=[part, types.Part.from_text(text="Make an exact replica.")]),
            config=types.GenerateContentConfig.model_validate({"response_modalities": ["TEXT", "IMAGE"], **settings}),
        )

    return do
