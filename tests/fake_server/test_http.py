"""The script and the log over HTTP, and requests that no SDK would send."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from ._images import photo
from ._post import post
from .process import FakeServer

if TYPE_CHECKING:
    from openai import OpenAI


def test_script_over_http(fake_server: FakeServer, openai: OpenAI) -> None:
    def ask() -> str | None:
        chat = openai.chat.completions.create(model="m", messages=[{"role": "user", "content": "Well?"}])
        return chat.choices[0].message.content

    url = f"{fake_server.base_url}/__script"
    assert post(url, b"answers:\n  judge.2: no_json\n")[0] == 200
    assert [(ask() or "")[:1] for _ in range(2)] == ["{", "T"]
    assert post(url, b'{"answers": {"judge.2": "no_jsn"}}') == (
        400, {"error": "script: answers.judge.2: no answer is called 'no_jsn'; did you mean 'no_json'?"}
    )  # fmt: skip
    assert post(url, b"\xff\xfe")[0] == 400
    assert post(url, b"a: [")[0] == 400
    assert post(url, b'{"answers": {}}')[0] == 200
    assert [(ask() or "")[:1] for _ in range(2)] == ["{", "{"], "a new script counts from 1 again"
    assert len(fake_server.requests("judge")) == 4
    fake_server.reset()
    assert fake_server.requests() == []


def test_what_arrived_is_kept_without_pixels_and_keys(fake_server: FakeServer, edit: Callable[..., Any]) -> None:
    edit(seed=3, system_instruction="Be careful.", temperature=0.5)
    (entry,) = fake_server.requests()
    assert (entry["method"], entry["path"]) == ("POST", "/v1/models/gemini-fake-image:generateContent")
    assert (entry["provider"], entry["model"], entry["seed"]) == ("gemini", "gemini-fake-image", 3)
    assert (entry["text"], entry["answer"], entry["status"]) == ("Make an exact replica.", "ok", 200)
    assert entry["config"]["temperature"] == 0.5
    assert entry["config"]["systemInstruction"] == "Be careful."
    assert entry["messages"] == [{"role": "user", "parts": ["image", "text"]}]
    (image,) = entry["images"]
    assert (image["media_type"], image["bytes"], image["width"]) == ("image/png", len(photo()), 64)
    assert entry["headers"]["x-goog-api-key"] == "[redacted]"
    assert "AIza" not in json.dumps(entry)


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/v1/models/m:generateContent", b"{", 400),
        ("/v1/models/m:generateContent", b"[]", 400),
        ("/v1/models/m:generateContent", b'{"contents": []}', 400),
        ("/v1/models/m:generateContent", b'{"contents": [{"parts": [{"inlineData": {"data": "#"}}]}]}', 400),
        ("/v1/models/m:generateContent", b'{"contents": [{"parts": 3}], "generationConfig": 5}', 200),
        ("/v1/models/m-image:generateContent", b'{"contents": [{"parts": [3, {"inlineData": 3}]}]}', 200),
        ("/v1beta/models/m:countTokens", b"{}", 404),
        ("/v1/images/edits", b"{}", 400),
        ("/v1/chat/completions", b"\xff", 400),
        ("/v1/chat/completions", b'{"messages": ["hi"]}', 400),
        ("/v1/chat/completions", b'{"messages": [{"content": "hi"}], "stream": true}', 400),
        ("/v1/chat/completions", b'{"messages": [{"content": 3}], "response_format": {"json_schema": 3}}', 200),
        (
            "/v1/chat/completions",
            b'{"messages": [{"content": [{"type": "image_url", "image_url": {"url": "https://example.org"}}]}]}',
            400,
        ),
        (
            "/v1/chat/completions",
            b'{"messages": [{"content": [{"type": "image_url", "image_url": "data:image/png;base64,#"}]}]}',
            400,
        ),
    ],
)
def test_odd_requests_are_answered_as_the_provider_would(
    fake_server: FakeServer, path: str, body: bytes, code: int
) -> None:
    found, answer = post(fake_server.base_url + path, body)
    assert found == code
    assert ("error" in answer) is (code != 200)
