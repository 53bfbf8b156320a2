"""Errors of the Gemini API, in the shape that its users report."""

from __future__ import annotations

from typing import Any, NamedTuple

from turngate.fake_server.answer import Answer
from turngate.fake_server.reply import Reply, as_json

__all__ = ["gemini_error", "gemini_refusal", "wrong_gemini_key"]

_RPC = "type.googleapis.com/google.rpc"
_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "head to: https://ai.google.dev/gemini-api/docs/rate-limits."
)
_EXHAUSTED = "Resource exhausted. Please try again later."
_METRIC = "generativelanguage.googleapis.com/generate_content_free_tier_requests"
_PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
_PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
_RETRY_AFTER = "17"
"""Seconds to wait where the script names none."""


class _Error(NamedTuple):
    code: int
    status: str
    message: str


_ERRORS = {
    "400": _Error(400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    "400_key": _Error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "400_signature": _Error(
        400, "INVALID_ARGUMENT", "Image part is missing a thought_signature in content position 2, part position 1."
    ),
    "401": _Error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
    "403": _Error(403, "PERMISSION_DENIED", "The caller does not have permission"),
    "404": _Error(404, "NOT_FOUND", "models/{model} is not found for API version v1, or is not supported for "
                  "generateContent. Call ListModels to see the list of available models."),
    "429_per_minute": _Error(429, "RESOURCE_EXHAUSTED", _QUOTA),
    "429_per_day": _Error(429, "RESOURCE_EXHAUSTED", _QUOTA),
    "429_minute_and_day": _Error(429, "RESOURCE_EXHAUSTED", _QUOTA),
    "429_capacity": _Error(429, "RESOURCE_EXHAUSTED", _EXHAUSTED),
    "429_retry_after": _Error(429, "RESOURCE_EXHAUSTED", _EXHAUSTED),
    "500": _Error(500, "INTERNAL", "An internal error has occurred. Please retry."),
    "503": _Error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "504": _Error(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
}  # fmt: skip


def gemini_error(answer: Answer, model: str) -> Reply | None:
    """The error that an answer stands for, or none when it is no error."""
    error = _ERRORS.get(answer.ending)
    if error is None:
        return None
    seconds = answer.argument or _RETRY_AFTER
    headers = {"Retry-After": seconds} if answer.ending == "429_retry_after" else None
    message = error.message.replace("{model}", model)
    return _body(error.code, error.status, message, _details(answer.ending, model, seconds), headers)


def gemini_refusal(message: str, code: int = 400) -> Reply:
    """A request that is wrong in itself."""
    status = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}.get(code, "UNIMPLEMENTED")
    return _body(code, status, message, [])


def wrong_gemini_key(given: str) -> Reply:
    """The refusal of a key, or of a call without one."""
    if not given:
        return gemini_refusal("Method doesn't allow unregistered callers. Please use API Key.", 403)
    error = _ERRORS["400_key"]
    return _body(error.code, error.status, error.message, _details("400_key", "", ""))


def _body(code: int, status: str, message: str, details: list[Any], headers: dict[str, str] | None = None) -> Reply:
    error: dict[str, Any] = {"code": code, "message": message, "status": status}
    return as_json({"error": {**error, "details": details} if details else error}, code, headers)


def _details(word: str, model: str, seconds: str) -> list[Any]:
    retry = {"@type": f"{_RPC}.RetryInfo", "retryDelay": f"{seconds}s"}
    match word:
        case "400_key":
            where = {"service": "generativelanguage.googleapis.com"}
            reason = {"reason": "API_KEY_INVALID", "domain": "googleapis.com", "metadata": where}
            return [{"@type": f"{_RPC}.ErrorInfo", **reason}]
        case "429_per_minute":
            return [_quota(model, _PER_MINUTE), retry]
        case "429_per_day":  # the API sends a short delay here too, which is of no use before the day's end
            return [_quota(model, _PER_DAY), retry]
        case "429_minute_and_day":
            return [_quota(model, _PER_MINUTE, _PER_DAY), retry]
    return []


def _quota(model: str, *ids: str) -> dict[str, Any]:
    dimensions = {"location": "global", "model": model}
    violations = [{"quotaMetric": _METRIC, "quotaId": one, "quotaDimensions": dimensions} for one in ids]
    return {"@type": f"{_RPC}.QuotaFailure", "violations": violations}
