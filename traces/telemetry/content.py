"""Texts and messages that fit into an attribute: redacted, cut, never image bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turngate.traces.images import ImageStore
from turngate.traces.records import AttemptRow
from turngate.traces.redact import redact
from turngate.traces.run_folder import RunInfo

__all__ = ["Content", "image_facts", "origin_facts"]


@dataclass(frozen=True)
class Content:
    """What may be sent, and at which length."""

    capture: bool = False
    """Instructions, reasoning summaries, explanations and image references are sent."""
    limit: int = 8192
    """Bytes of the longest attribute in UTF-8, at least 256; the ledger keeps the whole text."""

    def text(self, value: str | None) -> str | None:
        """`value` without secrets, cut to a quarter of the limit; a cut text says so at its end."""
        return _cut(_clean(value), self.limit // 4) if value else None

    def word(self, value: str) -> str:
        """A label, a flag or a name: without secrets, cut to a 64th of the limit."""
        return _cut(_clean(value), max(64, self.limit // 64))

    def input_messages(self, row: AttemptRow, origin: str | None, images: Mapping[str, dict[str, Any]]) -> str:
        """What the editor was given, as the conventions' JSON: the instruction and references to the images.

        `origin` is the SHA-256 of the origin; `images` says what is known about an image by its SHA-256.
        """
        given = [row.input_image]
        if row.history == "anchor" and origin is not None and origin != row.input_image:
            given.append(origin)
        parts = [_part(sha256, images.get(sha256, {})) for sha256 in given]
        return self._message({"role": "user"}, "text", row.instruction, parts)

    def output_messages(self, row: AttemptRow) -> str:
        """What the editor gave back: its reasoning summary and references to the images."""
        parts = [] if row.image is None else [_part(row.image, image_facts(row))]
        parts += [_part(extra["image"], {"role": extra.get("role")}) for extra in row.extras]
        # The conventions' schema wants a finish reason; a local editor has none of its own.
        reason = row.finish_reason or ("error" if row.outcome == "no_image" else "stop")
        head = {"role": "assistant", "finish_reason": self.word(reason)}
        return self._message(head, "reasoning", row.reasoning, parts)

    def _message(self, head: dict[str, str], kind: str, text: str | None, parts: list[dict[str, Any]]) -> str:
        def built(shown: str | None) -> str:
            first = [{"type": kind, "content": shown}] if shown else []
            return json.dumps([{**head, "parts": [*first, *parts]}], ensure_ascii=False)

        while parts and len(built(None).encode()) > self.limit // 2:  # an editor that returns dozens of thought images
            parts = parts[:-1]
        if not text:
            return built(None)
        text, limit = _clean(text), self.limit
        room = self.limit - len(built("x").encode())
        while len((message := built(_cut(text, limit))).encode()) > self.limit:  # quotes and newlines grow in JSON
            used = len(message.encode()) - (self.limit - room)
            limit = min(limit - 1, limit * room // used)
        return message


def image_facts(row: AttemptRow) -> dict[str, Any]:
    """What is known about the candidate: media type, width and height in pixels, bytes."""
    return {
        "mime_type": row.media_type,
        "width": row.width,
        "height": row.height,
        "size_bytes": row.size_bytes,
    }


def origin_facts(info: RunInfo, images: ImageStore) -> dict[str, Any]:
    """The same about the origin: run.json's words, and the size of its file in `images`."""
    origin, file = info.origin, images.find(info.origin.image)
    return {
        "mime_type": origin.media_type,
        "width": origin.width,
        "height": origin.height,
        "size_bytes": file.stat().st_size if file is not None else None,
    }


def _part(sha256: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in facts.items() if value is not None}
    return {"type": "uri", "modality": "image", "uri": f"sha256:{sha256}", **known}


def _clean(text: str) -> str:
    """Without secrets, and without half characters, which no exporter can encode."""
    return redact(text).encode(errors="replace").decode()


def _cut(text: str, limit: int) -> str:
    data = text.encode()
    if len(data) <= limit:
        return text
    mark = f" [cut, {len(data)} bytes in all]"
    return data[: max(0, limit - len(mark))].decode(errors="ignore") + mark
