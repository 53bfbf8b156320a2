"""An HTTP answer before it is sent, and how it is delivered: whole, late, cut off."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from turngate.fake_server.script import ScriptedReply

__all__ = ["HttpReply", "as_json", "deliver", "wait"]


@dataclass(frozen=True)
class HttpReply:
    """Status, body and headers."""

    status: int
    body: bytes = field(repr=False)
    media_type: str = "application/json; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpReply:
    """A JSON answer."""
    return HttpReply(status, json.dumps(content, ensure_ascii=False).encode(), headers=headers or {})


# Sends a reply, or fails to: waits, hangs, cuts the connection, sends what is no JSON.

_PAGE = """<html>
<head><title>{code} {reason}</title></head>
<body><center><h1>{code} {reason}</h1></center><hr><center>proxy</center></body>
</html>
"""
_REASONS = {200: "OK", 502: "Bad Gateway"}


async def wait(request: Request, seconds: float) -> None:
    """Sleep, but no longer than the client stays."""
    if not seconds:
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(None if math.isinf(seconds) else seconds):
            while (await request.receive())["type"] != "http.disconnect":
                pass


def deliver(reply: HttpReply, answer: ScriptedReply) -> Response:
    """The response of an answer, with what goes wrong on the way."""
    match answer.ending:
        case "hang":
            return _Cut(replace(reply, body=b""), 1)
        case "drop":
            return _Cut(replace(reply, body=reply.body[: len(reply.body) // 2]), len(reply.body))
        case "malformed":
            reply = replace(reply, body=reply.body[: len(reply.body) // 2])
        case "html":
            code = int(answer.argument or 502)
            page = _PAGE.format(code=code, reason=_REASONS[code])
            reply = HttpReply(code, page.encode(), "text/html")
    return Response(reply.body, reply.status, dict(reply.headers), reply.media_type)


class _Cut(Response):
    """Promises more bytes than it sends, upon which the server closes the connection."""

    def __init__(self, reply: HttpReply, promised: int) -> None:
        super().__init__(reply.body, reply.status, dict(reply.headers), reply.media_type)
        self.headers["content-length"] = str(promised)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
