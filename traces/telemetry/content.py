"""Texts and messages that fit into an attribute: redacted, at most 8 KiB, never image bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from turngate.traces.records import AttemptRow
from turngate.traces.redact import redact
from turngate.traces.run_folder import RunInfo

__all__ = ["MAX_BYTES", "clip", "image_facts", "input_messages", "origin_facts", "output_messages"]

MAX_BYTES = 8192
"""No attribute is longer, counted in bytes of UTF-8; the ledger keeps the whole text."""


def clip(text: str, limit: int = MAX_BYTES) -> str:
    """`text` without secrets and cut to `limit` bytes; a cut text says so at its end."""
    return _cut(redact(text), limit)


def input_messages(row: AttemptRow, origin: str | None, images: Mapping[str, dict[str, Any]]) -> str:
    """What the editor was given, as the conventions' JSON: the instruction and references to the images.

    `origin` is the SHA-256 of the origin; `images` says what is known about an image by its SHA-256.
    """
    given = [row.input_image]
    if row.history == "anchor" and origin is not None and origin != row.input_image:
        given.append(origin)
    return _messages("user", "text", row.instruction, [_part(sha256, images.get(sha256, {})) for sha256 in given])


def output_messages(row: AttemptRow) -> str:
    """What the editor gave back: its reasoning summary and references to the images."""
    parts = [] if row.image is None else [_part(row.image, image_facts(row))]
    parts += [_part(extra["image"], {"role": extra.get("role")}) for extra in row.extras]
    return _messages("assistant", "reasoning", row.reasoning, parts)


def image_facts(row: AttemptRow) -> dict[str, Any]:
    """What is known about the candidate: media type, width and height in pixels, bytes."""
    return {
        "mime_type": row.media_type,
        "width": row.width,
        "height": row.height,
        "size_bytes": row.size_bytes,
    }


def origin_facts(info: RunInfo) -> dict[str, Any]:
    """What run.json knows about the origin."""
    origin = info.origin
    return {"mime_type": origin.get("media_type"), "width": origin.get("width"), "height": origin.get("height")}


def _messages(role: str, kind: str, text: str | None, parts: list[dict[str, Any]]) -> str:
    def built(shown: str | None) -> str:
        first = [{"type": kind, "content": shown}] if shown else []
        return json.dumps([{"role": role, "parts": [*first, *parts]}], ensure_ascii=False)

    while len(built(None).encode()) > MAX_BYTES // 2:  # an editor that returns dozens of thought images
        parts = parts[:-1]
    if not text:
        return built(None)
    text, room = redact(text), MAX_BYTES - len(built("x").encode())
    limit = MAX_BYTES
    while len((message := built(_cut(text, limit))).encode()) > MAX_BYTES:  # quotes and newlines grow in JSON
        used = len(message.encode()) - (MAX_BYTES - room)
        limit = min(limit - 1, limit * room // used)
    return message


def _part(sha256: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in facts.items() if value is not None}
    return {"type": "uri", "modality": "image", "uri": f"sha256:{sha256}", **known}


def _cut(text: str, limit: int) -> str:
    data = text.encode()
    if len(data) <= limit:
        return text
    mark = f" [cut, {len(data)} bytes in all]"
    return data[: max(0, limit - len(mark))].decode(errors="ignore") + mark
