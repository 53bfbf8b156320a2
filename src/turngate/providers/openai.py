"""OpenAI-compatible servers through the openai package: the client, and what its failures mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turngate.errors import one_line
from turngate.providers.calling import CallFailure, trace_headers
from turngate.providers.server import server_url

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

__all__ = ["PROVIDER", "classify", "client", "url_of"]

PROVIDER = "openai"
"""Name after the OpenTelemetry conventions; also used for other servers of the same protocol."""


def url_of(base_url: str | None) -> str:
    """Address of the server that `client` calls, without secrets."""
    return server_url(base_url, "OPENAI_BASE_URL", "https://api.openai.com/v1")


def client(key: str, base_url: str | None, deadline_seconds: float) -> AsyncOpenAI:
    """A client that never tries again by itself: one layer retries, `turngate.providers.calling`.

    Its calls carry the trace context of the place where it was made.
    """
    from openai import AsyncOpenAI

    return AsyncOpenAI(
        api_key=key, base_url=base_url, timeout=deadline_seconds, max_retries=0, default_headers=trace_headers()
    )


def classify(error: Exception) -> CallFailure | None:
    """What an exception of the openai package means; None for one that is not its own."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return CallFailure("timeout", "the client's time-out passed")
    if isinstance(error, openai.APIConnectionError):
        return CallFailure("transport", f"{error} {error.__cause__ or ''}".strip()[:300])
    if isinstance(error, openai.APIStatusError):
        return _from_status(error)
    if isinstance(error, openai.APIResponseValidationError | openai.OpenAIError):
        return CallFailure("malformed", f"not an answer of the protocol: {error}"[:300])
    if isinstance(error, ValueError) and type(error).__module__.partition(".")[0] in ("json", "pydantic_core"):
        return CallFailure("malformed", f"not an answer of the protocol: {error}"[:300])
    return None


def _from_status(error: APIStatusError) -> CallFailure:
    code = str(error.code or "")
    text = one_line(f"HTTP {error.status_code}: {error.message}", 300)
    if error.status_code == 429:
        if code == "insufficient_quota":
            return CallFailure("per_day", text)
        limited = "per day" not in error.message.lower()
        return CallFailure("per_minute" if limited else "per_day", text, _wait(error))
    if error.status_code in (408, 409, 500, 502, 503, 504):
        return CallFailure("unavailable", text, _wait(error))
    if code in ("moderation_blocked", "content_policy_violation"):
        return CallFailure("moderation", text)
    if error.status_code in (401, 403):
        return CallFailure("auth", text)
    return CallFailure("not_found" if error.status_code == 404 else "bad_request", text)


def _wait(error: APIStatusError) -> float | None:
    header = error.response.headers.get("retry-after", "")
    return float(header) if re.fullmatch(r"\d+(\.\d+)?", header) else None
