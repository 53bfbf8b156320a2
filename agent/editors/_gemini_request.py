"""An edit request in the Gemini API's words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from turngate.agent.editor import EditRequest, Exchange
from turngate.agent.editors.remote.base import sent
from turngate.picture import Picture

if TYPE_CHECKING:
    from google.genai.types import Content, Part

__all__ = ["contents"]

_ACCEPTED = frozenset({"image/png", "image/jpeg", "image/webp"})


def contents(request: EditRequest, as_png: bool, window: int | None) -> tuple[list[Content], tuple[str, ...]]:
    """The conversation to send, and flags for the record.

    Without the `chat` protocol that is one message: the images, then the instruction. With it, every kept exchange as
    it was, the model's content whole with its thought signatures. An image goes along only where the message before
    it did not already end with it.
    """
    from google.genai.types import Content, Part

    flags: list[str] = []

    def message(pictures: Sequence[Picture], instruction: str) -> Content:
        parts: list[Part] = []
        for picture in pictures:
            data, media_type, remarks = sent(picture, as_png, _ACCEPTED)
            flags.extend(remarks)
            parts.append(Part.from_bytes(data=data, mime_type=media_type))
        return Content(role="user", parts=[*parts, Part.from_text(text=instruction)])

    if request.history != "chat":
        return [message(request.images, request.instruction)], tuple(dict.fromkeys(flags))
    assert request.load is not None, "the chat protocol needs `load`"
    kept = _kept(request.conversation, window)
    if len(kept) < len(request.conversation):
        flags.append(f"chat_window:{len(kept)} of {len(request.conversation)}")
    said: list[Content] = []
    shown: str | None = None
    for exchange in kept:
        news = [] if exchange.input_image == shown else [Picture.from_bytes(request.load(exchange.input_image))]
        said.append(message(news, exchange.instruction))
        said.append(_restored(exchange.content, request))
        shown = exchange.image
    said.append(message([] if request.image.sha256 == shown else [request.image], request.instruction))
    return said, tuple(dict.fromkeys(flags))


def _kept(conversation: tuple[Exchange, ...], window: int | None) -> tuple[Exchange, ...]:
    """The first exchange, which shows the origin, and the latest ones."""
    if window is None or len(conversation) <= window:
        return conversation
    return (conversation[0], *conversation[len(conversation) - window + 1 :])


def _restored(content: Mapping[str, Any], request: EditRequest) -> Content:
    """The model's content as it came, images put back in place of their hashes."""
    from base64 import b64encode

    from google.genai.types import Content

    assert request.load is not None
    whole = json.loads(json.dumps(content))
    for part in whole.get("parts") or []:
        data = (part.get("inline_data") or {}).get("data")
        if isinstance(data, dict):
            part["inline_data"]["data"] = b64encode(request.load(data["sha256"])).decode()
    # From JSON, not from a dict: only then are the base64 fields (signatures, images) decoded to the bytes they were.
    return Content.model_validate_json(json.dumps(whole))
