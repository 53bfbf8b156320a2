"""Serves an application on loopback, to this machine only, until a signal stops it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.applications import Starlette

from turngate.errors import MachineError, UserError

__all__ = ["HOST", "bind", "serve"]

HOST = "127.0.0.1"
"""Nothing that is served here is protected enough for a network."""
_KEEP_ALIVE_SECONDS = 75
"""Longer than a client may pause between turns, so that it never sends into a closing connection."""
_GRACE_SECONDS = 1
"""For calls in flight when the server is stopped; a call that hangs would last for ever."""


def bind(port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises `UserError` when the port is taken."""
    # The protocol must be named: asyncio sends without delay only on sockets that say they are TCP.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise UserError(f"port {port} is taken: give another, or --port 0 for a free one") from None
        if error.errno == errno.EACCES:
            raise UserError(f"port {port} is reserved for the administrator: give one above 1023") from None
        raise MachineError(f"cannot listen on {HOST}:{port}: {error.strerror}") from None
    return listening


def serve(app: Starlette, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is called when requests are answered."""
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",  # the answer names an error; a scripted fault of a fake is none
        access_log=False,
        lifespan="off",
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    asyncio.run(_Server(config, ready).serve(sockets=[listening]))


class _Server(uvicorn.Server):
    """Ends quietly on a signal instead of raising it once more."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop)
        yield

    def _stop(self) -> None:
        self.should_exit = True
