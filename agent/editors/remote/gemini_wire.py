"""A Gemini response as an edit result: an image, or a typed reason for none."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from turngate.agent.editor import Edited, ExtraImage, NoImage, NoImageWhy, Served, Usage
from turngate.errors import UserError
from turngate.providers.gemini_answer import FILTERS, blocked, count, finish_reason
from turngate.providers.prices import Prices, Tokens, cost

if TYPE_CHECKING:
    from google.genai.types import Candidate, GenerateContentResponse, Part

__all__ = ["result"]

_ENDINGS: dict[str, NoImageWhy] = {**FILTERS, "NO_IMAGE": "no_image", "STOP": "no_image"}
"""Finish reasons of an answer without an image; every other one, known to us or not, is `other`."""


def result(
    response: GenerateContentResponse, served: Served, prices: Prices | None, waited: float, flags: tuple[str, ...]
) -> Edited | NoImage:
    """What came back. The last image part that is not a thought is the result; a thought image only if there is none.

    Raises `UserError` when the model says that the conversation lacks a thought signature.
    """
    candidate = response.candidates[0] if response.candidates else None
    reason = finish_reason(candidate) if candidate else None
    told: dict[str, Any] = {
        "model": response.model_version,
        "usage": _usage(response, prices, waited),
        "served": Served(served.provider, response.response_id, reason, served.tries),
    }
    if candidate is None:
        return _without_candidate(response, told)
    if reason == "MISSING_THOUGHT_SIGNATURE":
        raise UserError(
            "Gemini misses a thought signature in the conversation: use `history: previous` or fork the run"
        )
    parts = list(candidate.content.parts or []) if candidate.content else []
    told["reasoning"] = "\n\n".join(p.text.strip() for p in parts if p.text and p.thought and p.text.strip()) or None
    images = [part for part in parts if _image(part)]
    ended_without = reason not in (None, "STOP", "MAX_TOKENS") and reason in _ENDINGS
    if not images or ended_without:
        text = " ".join(p.text for p in parts if p.text and not p.thought)
        detail = " ".join(f"{reason or 'no finish reason'} {candidate.finish_message or ''} {text}".split())[:500]
        return NoImage(_ENDINGS.get(reason or "STOP", "other"), detail, **told)
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
        detail={"declared_media_type": declared, **({"text": text[:2000]} if text else {})},
        content=_content(candidate),
        **told,
    )


def _without_candidate(response: GenerateContentResponse, told: dict[str, Any]) -> NoImage:
    why = blocked(response)
    if why is not None:
        return NoImage("blocked_prompt", why, retryable=False, **told)
    return NoImage("empty", "the answer has no candidate", **told)


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


def _usage(response: GenerateContentResponse, prices: Prices | None, waited: float) -> Usage:
    used = count(response)
    tokens = Tokens.split(used.sent, used.sent_images, used.made, used.made_images)
    return Usage(used.sent, used.made, used.thoughts, cost(tokens, prices), waited)
