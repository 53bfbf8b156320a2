"""The Gemini API through google-genai: the client, what its failures mean, and how an answer is read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from turngate.errors import one_line
from turngate.providers.calling import CallFailure, trace_headers
from turngate.providers.server import is_fake, server_url

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import Candidate, GenerateContentResponse

__all__ = [
    "FILTERS",
    "PROVIDER",
    "TokenCount",
    "blocked",
    "classify",
    "client",
    "count",
    "finish_reason",
    "is_from_fake",
    "url_of",
]


PROVIDER = "gcp.gemini"
"""Name after the OpenTelemetry conventions."""


def url_of(base_url: str | None) -> str:
    """Address of the server that `client` calls, without secrets."""
    return server_url(base_url, "GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")


def is_from_fake(response: GenerateContentResponse) -> bool:
    """Whether the shipped fake server gave this answer."""
    heard = response.sdk_http_response
    return is_fake(heard.headers if heard else None)


def client(key: str, base_url: str | None, deadline_seconds: float) -> Client:
    """A client that never tries again by itself: one layer retries, `turngate.providers.calling`.

    Its calls carry the trace context of the place where it was made.
    """
    from google.genai import Client, types

    # A finish reason that the library does not know is a typed ending here, not a warning.
    warnings.filterwarnings("ignore", message=".* is not a valid FinishReason")
    warnings.filterwarnings("ignore", message=".* is not a valid BlockedReason")
    options = types.HttpOptions(
        base_url=base_url,
        timeout=int(deadline_seconds * 1000),
        headers=trace_headers(),
        # Without this the library sleeps and tries again on its own when aiohttp is installed.
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    return Client(api_key=key, http_options=options)


def classify(error: Exception) -> CallFailure | None:
    """What an exception of google-genai or its transport means; None for one that is neither."""
    from google.genai import errors

    if isinstance(error, errors.APIError):
        return _from_status(error.code, error.message or "", error.details, error.response)
    if isinstance(error, errors.UnknownApiResponseError):
        return CallFailure("malformed", f"not an answer of the protocol: {text_message(error)}")
    module = type(error).__module__.partition(".")[0]
    if module in ("httpx", "httpx2", "httpcore", "httpcore2", "aiohttp"):
        kind = "timeout" if "timeout" in type(error).__name__.lower() else "transport"
        return CallFailure("timeout" if kind == "timeout" else "transport", f"{type(error).__name__} {error}".strip())
    if isinstance(error, OSError):
        return CallFailure("transport", text_message(error))
    if isinstance(error, ValueError) and module in ("json", "pydantic_core"):
        return CallFailure("malformed", f"not an answer of the protocol: {text_message(error)}")
    return None


def text_message(error: Exception) -> str:
    """An exception in one line of at most 300 characters."""
    return one_line(f"{type(error).__name__}: {error}", 300)


def _from_status(code: int, message: str, body: Any, response: Any) -> CallFailure:
    text = one_line(f"HTTP {code}: {message}", 300)
    if code == 429:
        return _limit(text, body, response)
    if code in (408, 500, 502, 503, 504):
        return CallFailure("unavailable", text, _wait(body, response))
    if "thought_signature" in message or "thought signature" in message.lower():
        return CallFailure("conversation", text)
    if code in (401, 403) or "API key" in message or "API_KEY" in message:
        return CallFailure("auth", text)
    return CallFailure("not_found" if code == 404 else "bad_request", text)


def _limit(text: str, body: Any, response: Any) -> CallFailure:
    """A 429: per day, per minute, or the provider's own capacity. Limits are named in the quota's id."""
    quotas = [
        str(violation.get("quotaId", ""))
        for detail in _details(body)
        if str(detail.get("@type", "")).endswith("QuotaFailure")
        for violation in detail.get("violations", [])
    ]
    wait = _wait(body, response)
    if any("PerDay" in quota for quota in quotas) or "per day" in text.lower():
        return CallFailure("per_day", text, wait)
    limited = any("PerMinute" in quota for quota in quotas) or "per minute" in text.lower()
    return CallFailure("per_minute" if limited else "capacity", text, wait)


def _wait(body: Any, response: Any) -> float | None:
    """Seconds to wait: `RetryInfo.retryDelay` in the body, otherwise the header `Retry-After`."""
    for detail in _details(body):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(detail.get("retryDelay", "")))
        if found:
            return float(found[1])
    header = getattr(response, "headers", {}).get("retry-after", "")
    return float(header) if re.fullmatch(r"\d+(\.\d+)?", header) else None


def _details(body: Any) -> list[dict[str, Any]]:
    error = body.get("error", body) if isinstance(body, dict) else {}
    details = error.get("details") if isinstance(error, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


# What editors and judges read alike of a Gemini answer: tokens, why it ended, why there is none.

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
class TokenCount:
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


def count(response: GenerateContentResponse) -> TokenCount:
    """The tokens of an answer. Google counts thoughts beside the candidates, and bills them as text."""
    used = response.usage_metadata
    if used is None:
        return TokenCount()
    made = used.candidates_token_count
    return TokenCount(
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
    return one_line(f"{_word(feedback.block_reason)} {feedback.block_reason_message or ''}", 500)


def _images_among(details: Any) -> int | None:
    """Image tokens among the details by modality; None without details."""
    return sum(one.token_count or 0 for one in details if _word(one.modality) == "IMAGE") if details else None


def _word(value: Any) -> str:
    return str(getattr(value, "value", value))
