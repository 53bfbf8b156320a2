"""What editors and judges read alike of a Gemini answer: tokens, why it ended, why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from google.genai.types import Candidate, GenerateContentResponse

__all__ = ["FILTERS", "Count", "blocked", "count", "finish_reason"]

FILTERS: Mapping[str, Literal["safety", "prohibited", "recitation"]] = {
    "IMAGE_SAFETY": "safety",
    "SAFETY": "safety",
    "SPII": "safety",
    "BLOCKLIST": "safety",
    "MODEL_ARMOR": "safety",
    "IMAGE_PROHIBITED_CONTENT": "prohibited",
    "PROHIBITED_CONTENT": "prohibited",
    "IMAGE_RECITATION": "recitation",
    "RECITATION": "recitation",
}
"""Finish reasons that say that a filter stepped in, and which."""


@dataclass(frozen=True)
class Count:
    """Tokens of one answer; None where the provider does not say."""

    sent: int | None = None
    """All that went out."""
    sent_images: int | None = None
    """Of those: images."""
    made: int | None = None
    """All that came back, thoughts included."""
    made_images: int | None = None
    """Of those: images."""
    thoughts: int | None = None
    """Of those: thoughts."""


def count(response: GenerateContentResponse) -> Count:
    """The tokens of an answer. Google counts thoughts beside the candidates, and bills them as text."""
    used = response.usage_metadata
    if used is None:
        return Count()
    made = used.candidates_token_count
    return Count(
        sent=used.prompt_token_count,
        sent_images=_images_among(used.prompt_tokens_details),
        made=None if made is None else made + (used.thoughts_token_count or 0),
        made_images=_images_among(used.candidates_tokens_details),
        thoughts=used.thoughts_token_count,
    )


def finish_reason(candidate: Candidate) -> str | None:
    """Why it ended, as Google spells it; also a reason that the client library does not know."""
    return None if candidate.finish_reason is None else _word(candidate.finish_reason)


def blocked(response: GenerateContentResponse) -> str | None:
    """Why the prompt was blocked, in one line of at most 500 characters; None when it was not."""
    feedback = response.prompt_feedback
    if feedback is None or not feedback.block_reason:
        return None
    return " ".join(f"{_word(feedback.block_reason)} {feedback.block_reason_message or ''}".split())[:500]


def _images_among(details: Any) -> int | None:
    """Image tokens among the details by modality; None without details."""
    return sum(one.token_count or 0 for one in details if _word(one.modality) == "IMAGE") if details else None


def _word(value: Any) -> str:
    return str(getattr(value, "value", value))
