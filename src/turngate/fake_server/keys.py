"""API keys, where the script requires one."""

from __future__ import annotations

import secrets

from starlette.requests import Request

from turngate.fake_server.asked import Provider
from turngate.fake_server.gemini_errors import wrong_gemini_key
from turngate.fake_server.openai_errors import wrong_openai_key
from turngate.fake_server.reply import Reply

__all__ = ["check_key"]


def check_key(provider: Provider, request: Request, required: str | None) -> Reply | None:
    """The refusal of a wrong key, none where the key is right or none is required."""
    if required is None:
        return None
    if provider == "gemini":
        given = request.headers.get("x-goog-api-key") or request.query_params.get("key", "")
    else:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if secrets.compare_digest(given.encode(), required.encode()):
        return None
    return wrong_gemini_key(given) if provider == "gemini" else wrong_openai_key()
