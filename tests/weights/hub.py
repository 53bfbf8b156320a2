"""A hub of models on this machine: one public repository, one gated, and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

REPOSITORY, GATED = "me/tiny", "me/gated"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def hub(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve `folder` as `me/tiny`: address and the requests so far."""
    seen: list[str] = []

    class Handler(_Handler):
        root = folder
        requests = seen

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
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
for raw in json.loads(sys.argv[1]):
    try:
        print(EDITORS.build(EDITORS.configure(raw, "editor")).model)
    except TurngateError as error:
        print(type(error).__name__, error)
"""


def build_from_hub(address: str, cache: Path, *raws: dict[str, Any]) -> list[str]:
    """What each editor says it is, or its error, one line each.

    The hub's address is read when its client is imported, so they are built in a process of their own.
    """
    environment = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(cache), "HF_HUB_DISABLE_TELEMETRY": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, json.dumps([{"device": "cpu", **raw} for raw in raws])],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


class _Handler(BaseHTTPRequestHandler):
    root: Path
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
            self._list([{"type": "file", "path": name, "size": 1, "oid": COMMIT} for name in self._names()])
        elif path in (api, f"{api}/revision/main", f"{api}/revision/{COMMIT}"):
            files = [{"rfilename": name} for name in self._names()]
            self._list({"id": REPOSITORY, "sha": COMMIT, "siblings": files})
        elif path.startswith(api):
            self._refuse(404, "RevisionNotFound")
        elif path.startswith(f"/{REPOSITORY}/resolve/"):
            self._send(self.root / path.split("/", 5)[5])
        else:
            self._refuse(404, "RepoNotFound")

    def _send(self, file: Path) -> None:
        if file.is_file():
            data = file.read_bytes()
            self._say(200, data, {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": COMMIT})
        else:
            self._refuse(404, "EntryNotFound")

    def _list(self, what: object) -> None:
        self._say(200, json.dumps(what).encode(), {})

    def _refuse(self, status: int, why: str) -> None:
        self._say(status, b"{}", {"X-Error-Code": why, "X-Repo-Commit": COMMIT})

    def _names(self) -> list[str]:
        return [file.relative_to(self.root).as_posix() for file in self.root.rglob("*") if file.is_file()]

    def _say(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)
