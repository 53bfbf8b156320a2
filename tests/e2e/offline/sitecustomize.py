"""Put on PYTHONPATH: every attempt to reach another machine is written down and refused."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

_connect = socket.socket.connect


def _refuse(self: socket.socket, address: Any) -> None:
    if self.family == socket.AF_UNIX:
        _connect(self, address)
        return
    with Path(os.environ["OFFLINE_LOG"]).open("a") as file:
        file.write(f"connect {address}\n")
    raise OSError("no network in this test")


def _unknown(host: Any, *arguments: Any, **more: Any) -> Any:
    with Path(os.environ["OFFLINE_LOG"]).open("a") as file:
        file.write(f"look up {host}\n")
    raise socket.gaierror("no network in this test")


socket.socket.connect = _refuse  # type: ignore[method-assign, assignment]
socket.getaddrinfo = _unknown
