"""Answers of `generateContent`, as google-genai reads them."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any, NamedTuple

from turngate.fake_server.asked import Asked, ReceivedImage
from turngate.fake_server.images import make_image
from turngate.fake_server.judging import judge_text
from turngate.fake_server.reply import HttpReply, as_json
from turngate.fake_server.script import Script, ScriptedReply

__all__ = ["answer_gemini", "gemini_error", "gemini_refusal", "signature_of", "wrong_gemini_key"]


_TOKENS_PER_IMAGE_IN = 258
_TOKENS_PER_IMAGE_OUT = 1290
_THOUGHT_TOKENS = 64
"""Token counts are invented; they only have the right order of magnitude."""


def answer_gemini(asked: Asked, answer: ScriptedReply, script: Script) -> HttpReply:
    """A 200 answer, whole or as server-sent events; raises `BadRequest` when the image cannot be edited."""
    response = _response(asked, answer, script)
    if not asked.stream:
        return as_json(response)
    events = "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n" for chunk in _chunks(response))
    return HttpReply(200, events.encode(), "text/event-stream")


def signature_of(image: bytes) -> str:
    """Thought signature (base64) that goes with an image; the fake can check it without a memory."""
    return base64.b64encode(hashlib.sha256(b"turngate fake signature" + image).digest()).decode()


def _response(asked: Asked, answer: ScriptedReply, script: Script) -> dict[str, Any]:
    frame = {
        "modelVersion": answer.model or asked.model,
        "responseId": asked.name(answer.text).hex()[:16],
    }
    if answer.ending == "blocked":
        return {"promptFeedback": {"blockReason": answer.argument}, "usageMetadata": _usage(asked, []), **frame}
    if answer.ending == "no_candidates":
        return {"usageMetadata": _usage(asked, []), **frame}
    reason, parts = _outcome(asked, answer, script)
    candidate: dict[str, Any] = {"index": 0, "finishReason": reason}
    if reason != "STOP":
        candidate["finishMessage"] = "The script says so."
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    return {"candidates": [candidate], "usageMetadata": _usage(asked, parts), **frame}


def _outcome(asked: Asked, answer: ScriptedReply, script: Script) -> tuple[str, list[dict[str, Any]]]:
    """Finish reason and parts."""
    thoughts = [{"text": script.reasoning, "thought": True}] if asked.thoughts else []
    match answer.ending:
        case "finish":
            return answer.argument, []
        case "no_image":
            return "NO_IMAGE", []
        case "filtered":
            return "SAFETY", []
        case "no_content":
            return "STOP", []
        case "text_only":
            return "STOP", [*thoughts, {"text": "I can describe the edit, but here is no image."}]
    if asked.kind == "judge":
        reason = "MAX_TOKENS" if answer.ending == "cut" else "STOP"
        return reason, [*thoughts, {"text": judge_text(asked, answer, script)}]
    for number in range(1, answer.interim + 1):
        interim = make_image(asked, answer, script, f"interim {number}")
        thoughts.append({"inlineData": _inline(interim), "thought": True})
    final = make_image(asked, answer, script)
    part: dict[str, Any] = {"inlineData": _inline(final), "thoughtSignature": signature_of(final.data)}
    if answer.ending == "thought_image_only":
        part["thought"] = True
    return "STOP", [*thoughts, part]


def _inline(image: ReceivedImage) -> dict[str, str]:
    return {"mimeType": image.media_type, "data": base64.b64encode(image.data).decode()}


def _usage(asked: Asked, parts: list[dict[str, Any]]) -> dict[str, Any]:
    asked_text = max(1, len(asked.text) // 4)
    prompt = {"TEXT": asked_text, "IMAGE": _TOKENS_PER_IMAGE_IN * len(asked.images)}
    given_text = sum(len(part["text"]) // 4 for part in parts if "text" in part and not part.get("thought"))
    given = {"TEXT": given_text, "IMAGE": _TOKENS_PER_IMAGE_OUT * sum("inlineData" in part for part in parts)}
    thoughts = _THOUGHT_TOKENS if any("text" in part and part.get("thought") for part in parts) else 0
    counts = {
        "promptTokenCount": sum(prompt.values()),
        "candidatesTokenCount": sum(given.values()),
        "totalTokenCount": sum(prompt.values()) + sum(given.values()) + thoughts,
        "promptTokensDetails": _by_modality(prompt),
        "candidatesTokensDetails": _by_modality(given),
    }
    return {**counts, "thoughtsTokenCount": thoughts} if thoughts else counts


def _by_modality(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"modality": modality, "tokenCount": count} for modality, count in counts.items() if count]


def _chunks(response: dict[str, Any]) -> list[dict[str, Any]]:
    """One event per part; finish reason and usage come with the last."""
    parts = response.get("candidates", [{}])[0].get("content", {}).get("parts", [])
    if len(parts) < 2:
        return [response]
    frame = {"modelVersion": response["modelVersion"], "responseId": response["responseId"]}
    early = [{"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}], **frame}
             for part in parts[:-1]]  # fmt: skip
    candidate = {**response["candidates"][0], "content": {"role": "model", "parts": parts[-1:]}}
    return [*early, {**response, "candidates": [candidate]}]


# Errors of the Gemini API, in the shape that its users report.

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


def gemini_error(answer: ScriptedReply, model: str) -> HttpReply | None:
    """The error of a scripted answer; None when the answer is no error."""
    error = _ERRORS.get(answer.ending)
    if error is None:
        return None
    seconds = answer.argument or _RETRY_AFTER
    headers = {"Retry-After": seconds} if answer.ending == "429_retry_after" else None
    message = error.message.replace("{model}", model)
    return _body(error.code, error.status, message, _error_details(answer.ending, model, seconds), headers)


def gemini_refusal(message: str, code: int = 400) -> HttpReply:
    """A request that is wrong in itself."""
    status = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}.get(code, "UNIMPLEMENTED")
    return _body(code, status, message, [])


def wrong_gemini_key(given: str) -> HttpReply:
    """The refusal of a key, or of a call without one."""
    if not given:
        return gemini_refusal("Method doesn't allow unregistered callers. Please use API Key.", 403)
    error = _ERRORS["400_key"]
    return _body(error.code, error.status, error.message, _error_details("400_key", "", ""))


def _body(code: int, status: str, message: str, details: list[Any], headers: dict[str, str] | None = None) -> HttpReply:
    error: dict[str, Any] = {"code": code, "message": message, "status": status}
    return as_json({"error": {**error, "details": details} if details else error}, code, headers)


def _error_details(word: str, model: str, seconds: str) -> list[Any]:
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
