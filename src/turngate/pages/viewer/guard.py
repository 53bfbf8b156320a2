"""Who may ask the viewer: this machine, with the token in the address."""

from __future__ import annotations

import secrets
from pathlib import Path

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turngate.errors import UserError

__all__ = ["POLICY", "Guard", "confined"]


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Only the viewer's own scripts run, and they reach nothing but the viewer. Plotly writes its styles at run time."""

_HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}
_HOSTS = {"127.0.0.1", "localhost", "[::1]"}


class Guard:
    """Passes on what comes from this machine's browser with the token; the application sees neither.

    The name in `Host` must be a loopback name, or a page elsewhere could point its own name at this machine (DNS
    rebinding). The token is the first part of the path, of reads and of writes alike, so no other page can name an
    address that does anything (CSRF); a write that says it comes from another page is refused as well.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin")
        if _name(host) not in _HOSTS:
            await _refuse(421, "this viewer answers to 127.0.0.1 and localhost only", scope, receive, send)
            return
        _, first, rest = [*scope["path"].split("/", 2), "", ""][:3]
        if not secrets.compare_digest(first.encode("utf-8", "replace"), self._token):
            await _refuse(403, "this address lacks the token: open the one that `turngate view` printed",
                          scope, receive, send)  # fmt: skip
            return
        if scope["method"] not in ("GET", "HEAD") and origin not in (None, b"http://" + host.encode("latin-1")):
            await _refuse(403, "another page may not write here", scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS.items()]
            await send(message)

        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        await self._app(inner, receive, guarded)


def _name(host: str) -> str:
    """`Host` without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


async def _refuse(status: int, text: str, scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"{text}\n", status)(scope, receive, send)


def confined(root: Path, path: Path) -> Path:
    """The real place of `path`; raises `UserError` when links lead out of `root`, which is itself resolved."""
    real = path.resolve()
    if not real.is_relative_to(root):
        raise UserError(f"{path.name} leads out of the folder that is viewed: view the folder that holds it")
    return real
