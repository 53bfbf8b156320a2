"""Reads the bodies of `images/edits` and `chat/completions` requests."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from turngate.fake_server.asked import Asked, BadRequest, ReceivedImage

__all__ = ["read_chat", "read_edit", "read_form"]


# Reads `multipart/form-data` with the standard library, so that no package is needed for one endpoint.


@dataclass(frozen=True)
class FormField:
    """A value, or a file."""

    name: str
    data: bytes
    media_type: str | None = None
    """Declared type of a file."""


def read_form(content_type: str, body: bytes) -> list[FormField]:
    """Fields in their order; raises `ValueError` when the body is no form."""
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    if not message.is_multipart():
        raise ValueError("not multipart/form-data")
    fields = []
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(data, bytes):
            fields.append(FormField(name, data, part.get_content_type() if part.get_filename() else None))
    return fields


_DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)


def read_edit(content_type: str, body: bytes) -> Asked:
    """What is asked for; raises `BadRequest` with the message that the API would give."""
    try:
        form = read_form(content_type, body)
    except ValueError:
        raise BadRequest("You must provide a multipart/form-data body.") from None
    images = [ReceivedImage(one.data, one.media_type or "") for one in form if one.name in ("image", "image[]")]
    config = {one.name: _value(one) for one in form if one.name not in ("image", "image[]", "prompt", "model")}
    prompt, model = _last(form, "prompt"), _last(form, "model")
    for name, value in (("image", images), ("prompt", prompt)):
        if not value:
            raise BadRequest(f"Missing required parameter: '{name}'.", "missing_required_parameter", name)
    return Asked(
        provider="openai",
        kind="edit",
        model=model or "fake-image",
        text=prompt,
        images=tuple(images),
        seed=int(config["seed"]) if re.fullmatch(r"\d+", config.get("seed", "")) else None,
        count=_count(config.get("n", "1")),
        size=_size(config.get("size", "auto")),
        format=_format(config.get("output_format")),
        config=config,
    )


def read_chat(body: Any) -> Asked:
    """What is asked for; raises `BadRequest` with the message that the API would give."""
    messages = body.get("messages") if isinstance(body, Mapping) else None
    if not isinstance(messages, list) or not messages or not all(isinstance(one, Mapping) for one in messages):
        raise BadRequest("Missing required parameter: 'messages'.", "missing_required_parameter", "messages")
    if body.get("stream"):
        raise BadRequest("The fake server does not stream chat completions.", "unsupported_value", "stream")
    parts = [part for message in messages for part in _parts(message)]
    wanted = body.get("response_format")
    wanted = wanted if isinstance(wanted, Mapping) else {}
    described = wanted.get("json_schema")
    return Asked(
        provider="openai",
        kind="judge",
        model=str(body.get("model", "")),
        text="\n".join(str(part.get("text", "")) for part in _parts(messages[-1]) if part.get("type") == "text"),
        images=tuple(_image(part) for part in parts if part.get("type") == "image_url"),
        turn=sum(message.get("role") == "user" for message in messages),
        seed=body.get("seed"),
        schema=described.get("schema") if isinstance(described, Mapping) else None,
        config={name: value for name, value in body.items() if name not in ("messages", "model")},
        messages=tuple(
            {"role": str(message.get("role")), "parts": [str(part.get("type")) for part in _parts(message)]}
            for message in messages
        ),
    )


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _image(part: Mapping[str, Any]) -> ReceivedImage:
    given = part.get("image_url")
    found = _DATA_URL.fullmatch(str(given.get("url", "") if isinstance(given, Mapping) else given))
    if not found:
        raise BadRequest("The fake server takes images as base64 data URLs only.", "invalid_image_url", "messages")
    try:
        return ReceivedImage(base64.b64decode(found[2], validate=True), found[1])
    except binascii.Error:
        raise BadRequest("Invalid base64 image_url.", "invalid_base64", "messages") from None


def _last(form: list[FormField], name: str) -> str:
    return next((_value(one) for one in reversed(form) if one.name == name), "")


def _value(field: FormField) -> str:
    return f"{len(field.data)} bytes" if field.media_type else field.data.decode(errors="replace")


def _count(text: str) -> int:
    if not re.fullmatch(r"[1-9]|10", text):
        raise BadRequest(f"Invalid value: '{text}'. n is between 1 and 10.", "invalid_value", "n")
    return int(text)


def _size(text: str) -> tuple[int, int] | None:
    if text == "auto":
        return None
    found = re.fullmatch(r"([1-9]\d{0,3})x([1-9]\d{0,3})", text)
    if not found:
        raise BadRequest(f"Invalid value: '{text}'. Write WIDTHxHEIGHT or auto.", "invalid_value", "size")
    return int(found[1]), int(found[2])


def _format(text: str | None) -> str | None:
    if text not in (None, "png", "jpeg", "webp"):
        raise BadRequest(f"Invalid value: '{text}'. There are png, jpeg and webp.", "invalid_value", "output_format")
    return text
