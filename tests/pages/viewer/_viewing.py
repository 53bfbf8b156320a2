"""`turngate view` in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.program import TURNGATE


@dataclass
class Viewer:
    """A running `turngate view`."""

    url: str
    process: subprocess.Popen[str]

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@contextmanager
def viewing(root: Path) -> Iterator[Viewer]:
    command = [TURNGATE, "view", str(root), "--no-browser", "--json", "--by", "me"]
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=root
    ) as process:
        assert process.stdout is not None
        try:
            yield Viewer(json.loads(process.stdout.readline())["url"], process)
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=60)
