"""Answers of `images/edits` and `chat/completions`, as the OpenAI SDK reads them."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

from turngate.fake_server.asked import Asked, BadRequest, ReceivedImage
from turngate.fake_server.images import make_image
from turngate.fake_server.judging import judge_text
from turngate.fake_server.reply import HttpReply, as_json
from turngate.fake_server.script import Script, ScriptedReply

__all__ = ["CREATED", "answer_chat", "answer_edit", "openai_error", "openai_refusal", "wrong_openai_key"]


CREATED = 1_767_225_600
"""Time of every answer, Unix seconds: always the same, like everything else."""
_TOKENS_PER_IMAGE_IN = 258
_TOKENS_PER_IMAGE_OUT = 1056
"""Token counts are invented; they only have the right order of magnitude."""


def answer_edit(
    asked: Asked, answer: ScriptedReply, script: Script, base_url: str
) -> tuple[HttpReply, list[ReceivedImage]]:
    """A 200 answer and the images in it; raises `BadRequest` when the image cannot be edited."""
    images = [make_image(asked, answer, script, f"final {number}") for number in range(asked.count)]
    if answer.ending == "no_image":
        images = []
    if answer.ending == "url_only" or asked.config.get("response_format") == "url":
        data = [{"url": f"{base_url}/__images/{image.sha256}"} for image in images]
    else:
        data = [{"b64_json": base64.b64encode(image.data).decode()} for image in images]
    declared = images[0].media_type.removeprefix("image/") if images else asked.format or "png"
    text, pixels = max(1, len(asked.text) // 4), _TOKENS_PER_IMAGE_IN * len(asked.images)
    given = _TOKENS_PER_IMAGE_OUT * len(images)
    usage = {
        "input_tokens": text + pixels,
        "input_tokens_details": {"text_tokens": text, "image_tokens": pixels},
        "output_tokens": given,
        "output_tokens_details": {"text_tokens": 0, "image_tokens": given},
        "total_tokens": text + pixels + given,
    }
    response = {"created": CREATED, "data": data, "output_format": declared, "usage": usage}
    # OpenAI's own server names no model here; some that speak its protocol do.
    return as_json({**response, "model": answer.model} if answer.model else response), images


def answer_chat(asked: Asked, answer: ScriptedReply, script: Script) -> HttpReply:
    """A 200 answer; filter, refusal and cut text are the script's doing."""
    text = judge_text(asked, answer, script)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    reason = "stop"
    match answer.ending:
        case "refusal":
            message.update(content=None, refusal=text)
        case "filtered":
            reason, message["content"] = "content_filter", None
        case "finish":
            reason, message["content"] = answer.argument, None
        case "cut":
            reason = "length"
    asked_tokens = max(1, len(asked.text) // 4) + _TOKENS_PER_IMAGE_IN * len(asked.images)
    given = len(message["content"] or "") // 4
    choices = [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}]
    return as_json(
        {
            "id": f"chatcmpl-{asked.name(answer.text).hex()[:16]}",
            "object": "chat.completion",
            "created": CREATED,
            "model": answer.model or asked.model,
            "choices": [] if answer.ending == "no_candidates" else choices,
            "usage": {
                "prompt_tokens": asked_tokens,
                "completion_tokens": given,
                "completion_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": asked_tokens + given,
            },
        }
    )


# Errors of the OpenAI API, in the shape that its SDK reads.

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


def openai_error(answer: ScriptedReply, model: str) -> HttpReply | None:
    """The error of a scripted answer; None when the answer is no error."""
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


def openai_refusal(error: BadRequest, status: int = 400) -> HttpReply:
    """A request that is wrong in itself."""
    return _body(_Error(status, "invalid_request_error", error.code, str(error)), error.param)


def wrong_openai_key() -> HttpReply:
    """The refusal of a key, or of a call without one."""
    return _body(_WRONG_KEY, None)


def _body(error: _Error, param: str | None, headers: dict[str, str] | None = None) -> HttpReply:
    content = {"message": error.message, "type": error.type, "param": param, "code": error.code}
    return as_json({"error": content}, error.status, headers)
