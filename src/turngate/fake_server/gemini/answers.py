"""Answers of `generateContent`, as google-genai reads them."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from turngate.fake_server.answer import Answer
from turngate.fake_server.asked import Asked, SentImage
from turngate.fake_server.images import make_image
from turngate.fake_server.judging import judge_text
from turngate.fake_server.reply import Reply, as_json
from turngate.fake_server.script import Script

__all__ = ["answer_gemini", "signature_of"]

_TOKENS_PER_IMAGE_IN = 258
_TOKENS_PER_IMAGE_OUT = 1290
_THOUGHT_TOKENS = 64
"""Token counts are invented; they only have the right order of magnitude."""


def answer_gemini(asked: Asked, answer: Answer, script: Script) -> Reply:
    """A 200 answer, whole or as server-sent events; raises `BadRequest` when the image cannot be edited."""
    response = _response(asked, answer, script)
    if not asked.stream:
        return as_json(response)
    events = "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n" for chunk in _chunks(response))
    return Reply(200, events.encode(), "text/event-stream")


def signature_of(image: bytes) -> str:
    """Thought signature (base64) that goes with an image; the fake can check it without a memory."""
    return base64.b64encode(hashlib.sha256(b"turngate fake signature" + image).digest()).decode()


def _response(asked: Asked, answer: Answer, script: Script) -> dict[str, Any]:
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


def _outcome(asked: Asked, answer: Answer, script: Script) -> tuple[str, list[dict[str, Any]]]:
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


def _inline(image: SentImage) -> dict[str, str]:
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
        "promptTokensDetails": _details(prompt),
        "candidatesTokensDetails": _details(given),
    }
    return {**counts, "thoughtsTokenCount": thoughts} if thoughts else counts


def _details(counts: dict[str, int]) -> list[dict[str, Any]]:
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
