"""What a request asks for, whichever API it came through."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from turngate.decoding import open_image
from turngate.errors import BadImage
from turngate.fake_server.script import CallKind

__all__ = ["Asked", "BadRequest", "Provider", "ReceivedImage"]

Provider = Literal["gemini", "openai"]


class BadRequest(Exception):
    """The request cannot be answered; the provider would say so too."""

    def __init__(self, message: str, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        """OpenAI's error code."""
        self.param = param
        """OpenAI's name of the field at fault."""


@dataclass(frozen=True)
class ReceivedImage:
    """An image as it was sent."""

    data: bytes = field(repr=False)
    media_type: str
    """As declared by the sender."""

    @property
    def sha256(self) -> str:
        """Hex digest of the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    def describe(self) -> dict[str, Any]:
        """Everything but the pixels."""
        width, height = _size(self.data)
        return {
            "media_type": self.media_type,
            "bytes": len(self.data),
            "sha256": self.sha256,
            "width": width,
            "height": height,
        }


@dataclass(frozen=True)
class Asked:
    """One request for an image or a judgement."""

    provider: Provider
    kind: CallKind
    model: str
    text: str
    """Text of the last message."""
    images: tuple[ReceivedImage, ...]
    """All images in the order in which they were sent; the last one is edited."""
    turn: int = 1
    """Messages of the user in this conversation."""
    seed: int | None = None
    count: int = 1
    """Images wanted."""
    size: tuple[int, int] | None = None
    """Width and height wanted, pixels."""
    format: str | None = None
    """File type wanted."""
    schema: Mapping[str, Any] | None = None
    """JSON Schema wanted, where one is."""
    thoughts: bool = False
    """Whether a reasoning summary is wanted."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings as sent."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """Role and kinds of parts of each message."""
    unsigned: str | None = None
    """Where an image of the model came back without its thought signature, or with a wrong one."""
    stream: bool = False

    def name(self, *more: object) -> bytes:
        """32 bytes that differ where the request, or `more`, does."""
        digest = hashlib.sha256(repr((self.model, self.text, self.turn, self.seed, more)).encode())
        for image in self.images:
            digest.update(hashlib.sha256(image.data).digest())
        return digest.digest()


def _size(data: bytes) -> tuple[int, int] | tuple[None, None]:
    try:
        return open_image(data).size
    except BadImage:
        return None, None
