"""A Gemini response as an edit result: an image, or a typed reason for none."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from turngate.agent.editor import Edited, ExtraImage, NoImage, NoImageWhy, Served, Usage
from turngate.errors import UserError
from turngate.providers.prices import Prices, Tokens, cost

if TYPE_CHECKING:
    from google.genai.types import Candidate, GenerateContentResponse, Part

__all__ = ["result"]

_ENDINGS: dict[str, NoImageWhy] = {
    "IMAGE_SAFETY": "safety",
    "SAFETY": "safety",
    "SPII": "safety",
    "BLOCKLIST": "safety",
    "MODEL_ARMOR": "safety",
    "IMAGE_PROHIBITED_CONTENT": "prohibited",
    "PROHIBITED_CONTENT": "prohibited",
    "IMAGE_RECITATION": "recitation",
    "RECITATION": "recitation",
    "NO_IMAGE": "no_image",
    "STOP": "no_image",
}
"""Finish reasons of an answer without an image; every other one, known to us or not, is `other`."""


def result(
    response: GenerateContentResponse, served: Served, prices: Prices | None, waited: float, flags: tuple[str, ...]
) -> Edited | NoImage:
    """What came back. The last image part that is not a thought is the result; a thought image only if there is none.

    Raises `UserError` when the model says that the conversation lacks a thought signature.
    """
    candidate = response.candidates[0] if response.candidates else None
    reason = _finish_reason(candidate)
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
    feedback = response.prompt_feedback
    if feedback and feedback.block_reason:
        blocked = str(getattr(feedback.block_reason, "value", feedback.block_reason))
        detail = " ".join(f"{blocked} {feedback.block_reason_message or ''}".split())
        return NoImage("blocked_prompt", detail[:500], retryable=False, **told)
    return NoImage("empty", "the answer has no candidate", **told)


def _finish_reason(candidate: Candidate | None) -> str | None:
    reason = candidate.finish_reason if candidate else None
    return None if reason is None else str(getattr(reason, "value", reason))


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
    used = response.usage_metadata
    if used is None:
        return Usage(waited_seconds=waited)
    sent, made = used.prompt_token_count, used.candidates_token_count
    image_in, image_out = _images_among(used.prompt_tokens_details), _images_among(used.candidates_tokens_details)
    thoughts = used.thoughts_token_count or 0
    tokens = Tokens(
        text_input=None if sent is None or image_in is None else sent - image_in,
        image_input=image_in,
        text_output=None if made is None or image_out is None else made - image_out + thoughts,
        image_output=image_out,
    )
    output = None if made is None else made + thoughts
    return Usage(sent, output, used.thoughts_token_count, cost(tokens, prices), waited)


def _images_among(details: Any) -> int | None:
    """Image tokens among the details by modality; None without details."""
    if not details:
        return None
    return sum(one.token_count or 0 for one in details if getattr(one.modality, "value", one.modality) == "IMAGE")
