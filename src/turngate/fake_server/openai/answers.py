"""Answers of `images/edits` and `chat/completions`, as the OpenAI SDK reads them."""

from __future__ import annotations

import base64
from typing import Any

from turngate.fake_server.answer import Answer
from turngate.fake_server.asked import Asked, SentImage
from turngate.fake_server.images import make_image
from turngate.fake_server.judging import judge_text
from turngate.fake_server.reply import Reply, as_json
from turngate.fake_server.script import Script

__all__ = ["CREATED", "answer_chat", "answer_edit"]

CREATED = 1_767_225_600
"""Time of every answer, Unix seconds: always the same, like everything else."""
_TOKENS_PER_IMAGE_IN = 258
_TOKENS_PER_IMAGE_OUT = 1056
_THOUGHT_TOKENS = 64
"""Token counts are invented; they only have the right order of magnitude."""


def answer_edit(asked: Asked, answer: Answer, script: Script, base_url: str) -> tuple[Reply, list[SentImage]]:
    """A 200 answer and the images in it; raises `BadRequest` when the image cannot be edited."""
    images = [make_image(asked, answer, script, f"final {number}") for number in range(asked.count)]
    if answer.ending == "no_image":
        images = []
    if answer.ending == "url_only" or asked.config.get("response_format") == "url":
        data = [{"url": f"{base_url}/__images/{image.sha256}"} for image in images]
    else:
        data = [{"b64_json": base64.b64encode(image.data).decode()} for image in images]
    declared = images[0].media_type.removeprefix("image/") if images else asked.format or script.format
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


def answer_chat(asked: Asked, answer: Answer, script: Script) -> Reply:
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
    thoughts = _THOUGHT_TOKENS if script.reasoning_content else 0
    if thoughts:
        message["reasoning_content"] = script.reasoning
    asked_tokens = max(1, len(asked.text) // 4) + _TOKENS_PER_IMAGE_IN * len(asked.images)
    given = len(message["content"] or "") // 4 + thoughts
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
                "completion_tokens_details": {"reasoning_tokens": thoughts},
                "total_tokens": asked_tokens + given,
            },
        }
    )
