"""The Gemini API through google-genai: the client, and what its failures mean."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

from turngate.providers.failure import Failure
from turngate.providers.trace_headers import trace_headers

if TYPE_CHECKING:
    from google.genai import Client

__all__ = ["PROVIDER", "classify", "client", "text_message"]

PROVIDER = "gcp.gemini"
"""Name after the OpenTelemetry conventions."""


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


def classify(error: Exception) -> Failure | None:
    """What an exception of google-genai or its transport means; None for one that is neither."""
    from google.genai import errors

    if isinstance(error, errors.APIError):
        return _from_status(error.code, error.message or "", error.details, error.response)
    if isinstance(error, errors.UnknownApiResponseError):
        return Failure("malformed", f"not an answer of the protocol: {text_message(error)}")
    module = type(error).__module__.partition(".")[0]
    if module in ("httpx", "httpx2", "httpcore", "httpcore2", "aiohttp"):
        kind = "timeout" if "timeout" in type(error).__name__.lower() else "transport"
        return Failure("timeout" if kind == "timeout" else "transport", f"{type(error).__name__} {error}".strip())
    if isinstance(error, OSError):
        return Failure("transport", text_message(error))
    if isinstance(error, ValueError) and module in ("json", "pydantic_core"):
        return Failure("malformed", f"not an answer of the protocol: {text_message(error)}")
    return None


def text_message(error: Exception) -> str:
    """An exception in one line of at most 300 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _from_status(code: int, message: str, body: Any, response: Any) -> Failure:
    text = " ".join(f"HTTP {code}: {message}".split())[:300]
    if code == 429:
        return _limit(text, body, response)
    if code in (408, 500, 502, 503, 504):
        return Failure("unavailable", text, _wait(body, response))
    if "thought_signature" in message or "thought signature" in message.lower():
        return Failure("conversation", text)
    if code in (401, 403) or "API key" in message or "API_KEY" in message:
        return Failure("auth", text)
    return Failure("not_found" if code == 404 else "bad_request", text)


def _limit(text: str, body: Any, response: Any) -> Failure:
    """A 429: per day, per minute, or the provider's own capacity. Limits are named in the quota's id."""
    quotas = [
        str(violation.get("quotaId", ""))
        for detail in _details(body)
        if str(detail.get("@type", "")).endswith("QuotaFailure")
        for violation in detail.get("violations", [])
    ]
    wait = _wait(body, response)
    if any("PerDay" in quota for quota in quotas) or "per day" in text.lower():
        return Failure("per_day", text, wait)
    limited = any("PerMinute" in quota for quota in quotas) or "per minute" in text.lower()
    return Failure("per_minute" if limited else "capacity", text, wait)


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
