"""What is sent to Gemini and what comes back: requests, and responses as an image or a typed reason for none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from turngate.agent.editor import Edited, EditRequest, EditUsage, Exchange, ExtraImage, NoImage, NoImageWhy, Served
from turngate.agent.editors.remote.base import sent
from turngate.component import FAKE_SERVER
from turngate.errors import UserError, one_line, shortened
from turngate.picture import Picture
from turngate.providers.gemini import FILTERS, blocked, count, finish_reason, is_from_fake
from turngate.providers.prices import Prices, Tokens, cost

if TYPE_CHECKING:
    from google.genai.types import Candidate, Content, GenerateContentResponse, Part

__all__ = ["contents", "result"]


_LONGEST_TEXT = 200_000
"""Characters beside an image that are kept."""
_ENDINGS: dict[str, NoImageWhy] = {**FILTERS, "NO_IMAGE": "no_image", "STOP": "no_image"}
"""Finish reasons of an answer without an image; every other one, known to us or not, is `other`."""


def result(
    response: GenerateContentResponse, served: Served, prices: Prices | None, waited: float, flags: tuple[str, ...]
) -> Edited | NoImage:
    """What came back. The last image part that is not a thought is the result; a thought image only if there is none.

    Raises `UserError` when the model says that the conversation lacks a thought signature.
    """
    flags = (*flags, *([FAKE_SERVER] if is_from_fake(response) else []))
    candidate = response.candidates[0] if response.candidates else None
    reason = finish_reason(candidate) if candidate else None
    shared: dict[str, Any] = {
        "model": response.model_version,
        "usage": _usage(response, prices, waited),
        "served": Served(served.provider, response.response_id, reason, served.tries),
    }
    if candidate is None:
        return _without_candidate(response, shared)
    if reason == "MISSING_THOUGHT_SIGNATURE":
        raise UserError(
            "Gemini misses a thought signature in the conversation: use `history: previous` or fork the run"
        )
    parts = list(candidate.content.parts or []) if candidate.content else []
    shared["reasoning"] = "\n\n".join(p.text.strip() for p in parts if p.text and p.thought and p.text.strip()) or None
    images = [part for part in parts if _image(part)]
    ended_without = reason not in (None, "STOP", "MAX_TOKENS") and reason in _ENDINGS
    if not images or ended_without:
        text = " ".join(p.text for p in parts if p.text and not p.thought)
        detail = one_line(f"{reason or 'no finish reason'} {candidate.finish_message or ''} {text}", 4000)
        return NoImage(_ENDINGS.get(reason or "STOP", "other"), detail, **shared)
    finals = [part for part in images if not part.thought]
    chosen = (finals or images)[-1]
    remarks = [*flags]
    if not finals:
        remarks.append("image_from_thought")
    if len(finals) > 1:
        remarks.append(f"images:{len(finals)}, the last one taken")
    if reason not in (None, "STOP"):
        remarks.append(f"finish_reason:{reason}")
    data = _image(chosen)
    declared = (chosen.inline_data.mime_type if chosen.inline_data else None) or "none"
    text = "\n".join(p.text for p in parts if p.text and not p.thought).strip()
    return Edited(
        data,
        extras=tuple(ExtraImage(_image(part), "interim") for part in images if part is not chosen),
        flags=tuple(remarks),
        metadata={"declared_media_type": declared, **({"text": shortened(text, _LONGEST_TEXT)} if text else {})},
        content=_content(candidate),
        **shared,
    )


def _without_candidate(response: GenerateContentResponse, shared: dict[str, Any]) -> NoImage:
    why = blocked(response)
    if why is not None:
        return NoImage("blocked_prompt", why, retryable=False, **shared)
    return NoImage("empty", "the answer has no candidate", **shared)


def _image(part: Part) -> bytes:
    """Bytes of an image part; empty for any other part."""
    blob = part.inline_data
    return blob.data or b"" if blob and (blob.mime_type or "image/").startswith("image/") else b""


def _content(candidate: Candidate) -> dict[str, Any]:
    """The returned content as plain JSON, images by SHA-256: what a conversation must send back, signatures and all."""
    assert candidate.content is not None
    whole: dict[str, Any] = candidate.content.model_dump(mode="json", exclude_none=True)
    for part, dumped in zip(candidate.content.parts or [], whole.get("parts", []), strict=True):
        if _image(part):
            dumped["inline_data"]["data"] = {"sha256": hashlib.sha256(_image(part)).hexdigest()}
    return whole


def _usage(response: GenerateContentResponse, prices: Prices | None, waited: float) -> EditUsage:
    used = count(response)
    tokens = Tokens.split(used.sent, used.sent_images, used.made, used.made_images)
    return EditUsage(used.sent, used.made, used.thoughts, cost(tokens, prices), waited)


# An edit request in the Gemini API's words.

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
