"""`turngate fake-server` in a process of its own, for tests of what calls it.

In a `conftest.py`: import `fake_server` and `fake_server_process`, and put both names into `__all__`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

__all__ = ["FakeServer", "fake_server", "fake_server_process", "start_fake_server"]

_COMMAND = [str(Path(sys.executable).parent / "turngate"), "fake-server", "--json", "--quiet"]


class FakeServer:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], told: dict[str, Any]) -> None:
        self.process = process
        self.base_url: str = told["url"]
        """For google-genai's `HttpOptions(base_url=...)`."""
        self.openai_url: str = told["environment"]["OPENAI_BASE_URL"]
        """For the OpenAI SDK's `base_url`."""
        self.environment: dict[str, str] = told["environment"]
        """Variables that send both SDKs to this server."""

    def script(self, **fields: Any) -> None:
        """Answer by another script, and count calls from 1 again."""
        self._post("/__script", fields)

    def answer(self, *answers: str, default: str = "ok") -> None:
        """Answer the next editor calls so, and the rest with `default`."""
        self.script(queue=list(answers), answers={"default": default})

    def judge(self, *answers: str, default: str = "ok") -> None:
        """Answer the next judge calls so, and the rest with `default`."""
        self.script(judge_queue=list(answers), answers={"judge.default": default})

    def requests(self, kind: str | None = None) -> list[dict[str, Any]]:
        """What arrived so far, oldest first, without pixels; `kind` is `edit` or `judge`."""
        with urlopen(f"{self.base_url}/__requests", timeout=30) as answer:
            found: list[dict[str, Any]] = json.load(answer)["requests"]
        return [entry for entry in found if kind in (None, entry["kind"])]

    def reset(self) -> None:
        """Forget what arrived, and go back to the first script."""
        self._post("/__reset", {})

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Stop by a signal; exit code and standard error."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err

    def _post(self, path: str, content: dict[str, Any]) -> None:
        request = Request(f"{self.base_url}{path}", json.dumps(content).encode(), method="POST")
        with urlopen(request, timeout=30) as answer:
            assert answer.status == 200


@contextmanager
def start_fake_server(*arguments: object) -> Iterator[FakeServer]:
    """Start the command with more arguments and wait until it is ready; it is stopped at the end."""
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    with subprocess.Popen(
        [*_COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line, process.stderr.read()
        try:
            yield FakeServer(process, json.loads(line))
        finally:
            process.kill()


@pytest.fixture(scope="session")
def fake_server_process() -> Iterator[FakeServer]:
    """One process for all tests of a folder."""
    with start_fake_server() as server:
        yield server


@pytest.fixture
def fake_server(fake_server_process: FakeServer) -> FakeServer:
    """A server that answers everything and has seen nothing yet."""
    fake_server_process.reset()
    return fake_server_process
