"""A hub of models on this machine: one public repository, one gated, and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

__all__ = ["GATED", "REPOSITORY", "HubClient", "commit_of", "hub", "hub_client", "hub_client_process"]

REPOSITORY, GATED = "me/tiny", "me/gated"


def commit_of(folder: Path) -> str:
    """The commit at which the hub has the folder: the hub's client remembers which files a commit has."""
    return hashlib.sha1("\n".join(_files(folder)).encode()).hexdigest()


def _files(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


@contextmanager
def hub(folder: Path, port: int = 0) -> Iterator[tuple[str, list[str]]]:
    """Serve `folder` as `me/tiny`, on any free port or on this one: address and the requests so far."""
    seen: list[str] = []

    class Handler(_Handler):
        root = folder
        commit = commit_of(folder)
        requests = seen

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


_BUILD = """
import json, sys
from turngate.agent.editors import EDITORS
from turngate.errors import TurngateError
for line in sys.stdin:
    try:
        told = EDITORS.build(EDITORS.configure(json.loads(line), "editor")).model
    except TurngateError as error:
        told = f"{type(error).__name__} {error}"
    print(told, flush=True)
"""


class HubClient:
    """A process that builds editors from the hub at `port` and keeps what it fetched in `cache`.

    The hub's address is read when its client is imported, which takes ten seconds: one process serves many tests.
    """

    def __init__(self, process: subprocess.Popen[str], port: int, cache: Path) -> None:
        self.port, self.cache, self._process = port, cache, process

    def build(self, *raws: dict[str, Any]) -> list[str]:
        """What each editor says it is, or its error, one line each."""
        assert self._process.stdin is not None and self._process.stdout is not None
        told = []
        for raw in raws:
            print(json.dumps({"device": "cpu", **raw}), file=self._process.stdin, flush=True)
            told.append(self._process.stdout.readline().rstrip("\n"))
        return told


@pytest.fixture(scope="session")
def hub_client_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubClient]:
    """One client for all tests."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cache = tmp_path_factory.mktemp("hub")
    more = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HOME": str(cache), "HF_HUB_DISABLE_TELEMETRY": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", _BUILD], env={**os.environ, **more}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        yield HubClient(process, port, cache)


@pytest.fixture
def hub_client(hub_client_process: HubClient) -> HubClient:
    """A client that has fetched nothing yet."""
    shutil.rmtree(hub_client_process.cache, ignore_errors=True)
    return hub_client_process


class _Handler(BaseHTTPRequestHandler):
    root: Path
    commit: str
    requests: list[str]

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Keep the terminal clean."""

    def _answer(self) -> None:
        self.requests.append(self.path)
        path = self.path.partition("?")[0]
        api = f"/api/models/{REPOSITORY}"
        if path.startswith(f"/api/models/{GATED}"):
            self._refuse(403, "GatedRepo")
        elif path.startswith(f"{api}/tree"):
            self._list([{"type": "file", "path": name, "size": 1, "oid": self.commit} for name in _files(self.root)])
        elif path in (api, f"{api}/revision/main", f"{api}/revision/{self.commit}"):
            files = [{"rfilename": name} for name in _files(self.root)]
            self._list({"id": REPOSITORY, "sha": self.commit, "siblings": files})
        elif path.startswith(api):
            self._refuse(404, "RevisionNotFound")
        elif path.startswith(f"/{REPOSITORY}/resolve/"):
            self._send(self.root / path.split("/", 5)[5])
        else:
            self._refuse(404, "RepoNotFound")

    def _send(self, file: Path) -> None:
        if file.is_file():
            data = file.read_bytes()
            self._say(200, data, {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": self.commit})
        else:
            self._refuse(404, "EntryNotFound")

    def _list(self, what: object) -> None:
        self._say(200, json.dumps(what).encode(), {})

    def _refuse(self, status: int, why: str) -> None:
        self._say(status, b"{}", {"X-Error-Code": why, "X-Repo-Commit": self.commit})

    def _say(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)
