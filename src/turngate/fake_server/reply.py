"""An HTTP answer before it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Reply", "as_json"]


@dataclass(frozen=True)
class Reply:
    """Status, body and headers."""

    status: int
    body: bytes = field(repr=False)
    media_type: str = "application/json; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A JSON answer."""
    return Reply(status, json.dumps(content, ensure_ascii=False).encode(), headers=headers or {})
