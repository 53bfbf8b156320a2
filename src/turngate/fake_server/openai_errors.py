"""Errors of the OpenAI API, in the shape that its SDK reads."""

from __future__ import annotations

from typing import NamedTuple

from turngate.fake_server.answer import Answer
from turngate.fake_server.asked import BadRequest
from turngate.fake_server.reply import Reply, as_json

__all__ = ["openai_error", "openai_refusal", "wrong_openai_key"]

_RETRY_AFTER = "20"
"""Seconds to wait where the script names none."""


class _Error(NamedTuple):
    status: int
    type: str
    code: str | None
    message: str


_WRONG_KEY = _Error(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
_LIMIT = "Rate limit reached for {model} on requests per {unit}: Limit {limit}, Used {limit}, Requested 1."

_ERRORS = {
    "400": _Error(400, "invalid_request_error", None, "The request is invalid."),
    "401": _WRONG_KEY,
    "403": _Error(403, "invalid_request_error", "model_not_found", "The project does not have access to {model}."),
    "404": _Error(404, "invalid_request_error", "model_not_found", "The model {model} does not exist or you do not "
                  "have access to it."),
    "moderation_blocked": _Error(400, "image_generation_user_error", "moderation_blocked", "Your request was rejected "
                                 "by the safety system. safety_violations=[violence]."),
    "insufficient_quota": _Error(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, "
                                 "please check your plan and billing details."),
    "429_per_minute": _Error(429, "requests", "rate_limit_exceeded", _LIMIT.replace("{unit}", "min (RPM)")),
    "429_per_day": _Error(429, "requests", "rate_limit_exceeded", _LIMIT.replace("{unit}", "day (RPD)")),
    "429_capacity": _Error(429, "server_error", None, "That model is currently overloaded with other requests."),
    "429_retry_after": _Error(429, "server_error", None, "That model is currently overloaded with other requests."),
    "500": _Error(500, "server_error", None, "The server had an error while processing your request."),
    "503": _Error(503, "service_unavailable_error", None, "The engine is currently overloaded, please try again later"),
    "504": _Error(504, "server_error", None, "The upstream server timed out."),
}  # fmt: skip
_RESETS = {"429_per_minute": ("5", None), "429_per_day": ("200", "7m12s")}
"""Limit of the window, and time until it is reset where that is not the time to wait."""


def openai_error(answer: Answer, model: str) -> Reply | None:
    """The error that an answer stands for, or none when it is no error."""
    error = _ERRORS.get(answer.ending)
    if error is None:
        return None
    seconds = answer.argument or _RETRY_AFTER
    headers = {"retry-after": seconds} if answer.ending in ("429_per_minute", "429_retry_after") else {}
    limit, reset = _RESETS.get(answer.ending, ("", None))
    if limit:
        headers["x-ratelimit-limit-requests"] = limit
        headers["x-ratelimit-remaining-requests"] = "0"
        headers["x-ratelimit-reset-requests"] = reset or f"{seconds}s"
    message = error.message.replace("{model}", f"`{model}`").replace("{limit}", limit)
    if limit:
        message += f" Please try again in {reset or seconds + 's'}."
    return _body(error._replace(message=message), None, headers)


def openai_refusal(error: BadRequest, status: int = 400) -> Reply:
    """A request that is wrong in itself."""
    return _body(_Error(status, "invalid_request_error", error.code, str(error)), error.param)


def wrong_openai_key() -> Reply:
    """The refusal of a key, or of a call without one."""
    return _body(_WRONG_KEY, None)


def _body(error: _Error, param: str | None, headers: dict[str, str] | None = None) -> Reply:
    content = {"message": error.message, "type": error.type, "param": param, "code": error.code}
    return as_json({"error": content}, error.status, headers)
