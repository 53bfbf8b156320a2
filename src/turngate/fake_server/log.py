"""What arrived, and which answer it was given: counts calls, keeps no pixels and no keys."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from typing import Any

from turngate.fake_server.asked import Asked, ReceivedImage
from turngate.fake_server.script import CallKind, Script, ScriptedReply

__all__ = ["Log", "understood"]

_KEPT_REQUESTS = 10_000
_KEPT_IMAGES = 100
_SECRET_HEADER = re.compile("auth|key|token|secret|cookie")


class Log:
    """State of the server. Touched by the event loop only, so it needs no lock."""

    def __init__(self, script: Script) -> None:
        self._first = script
        self.reset()

    def reset(self) -> None:
        """Forget every request and go back to the first script."""
        self.requests: deque[dict[str, Any]] = deque(maxlen=_KEPT_REQUESTS)
        self.images: dict[str, ReceivedImage] = {}
        self.use(self._first)

    def use(self, script: Script) -> None:
        """Answer by another script; calls are counted from 1 again."""
        self.script = script
        self._calls: dict[CallKind, int] = {"edit": 0, "judge": 0}

    def take(self, kind: CallKind) -> tuple[int, ScriptedReply]:
        """Number of the next call of a kind and its answer."""
        self._calls[kind] += 1
        return self._calls[kind], self.script.answer(kind, self._calls[kind])

    def arrived(self, method: str, path: str, headers: Mapping[str, str]) -> dict[str, Any]:
        """Note a request; the entry is filled in as it is understood and answered."""
        shown = {name: "[redacted]" if _SECRET_HEADER.search(name) else value for name, value in headers.items()}
        entry = {"method": method, "path": path, "headers": shown, "kind": None, "call": None, "answer": None}
        self.requests.append(entry)
        return entry

    def keep_image(self, image: ReceivedImage) -> None:
        """Hold an image that a URL was given for."""
        self.images[image.sha256] = image
        while len(self.images) > _KEPT_IMAGES:
            del self.images[next(iter(self.images))]


def understood(asked: Asked) -> dict[str, Any]:
    """What a request asked for, without pixels."""
    return {
        "provider": asked.provider,
        "kind": asked.kind,
        "model": asked.model,
        "text": asked.text,
        "images": [image.describe() for image in asked.images],
        "messages": list(asked.messages),
        "seed": asked.seed,
        "config": dict(asked.config),
    }
