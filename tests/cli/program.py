"""The program in an empty folder: inside the test process, or as a process of its own where that is the point."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from turngate.cli import cli
from turngate.cli.errors import guarded

__all__ = [
    "OFFLINE", "PLUGIN", "TURNGATE", "Done", "as_started", "call", "environment", "program", "python_path", "turngate",
    "write",
]  # fmt: skip

PLUGIN = Path(__file__).parents[1] / "e2e" / "plugin"
OFFLINE = Path(__file__).parents[1] / "e2e" / "offline"
"""On PYTHONPATH it refuses every connection, and writes it into the file that OFFLINE_LOG names."""
TURNGATE = str(Path(sys.executable).parent / "turngate")


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """Standard output, which must be one JSON object and nothing else."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    def refused(self, code: int, *words: str) -> None:
        """One line on standard error, no traceback, this exit code, these words."""
        assert self.code == code, (self.code, self.err)
        assert "Traceback" not in self.err
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("turngate: ")
        for word in words:
            assert word in lines[0], (word, lines[0])


@pytest.fixture
def environment() -> dict[str, str]:
    """The command's environment with the test plug-in importable and no telemetry."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return {**kept, "PYTHONPATH": python_path(PLUGIN), "PYTHONWARNINGS": "error"}


def python_path(*folders: Path) -> str:
    """A value for PYTHONPATH that puts these folders in front of what is there."""
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture
def program(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Done]:
    """Run the installed `turngate ARGUMENTS` in an empty folder."""

    def do(*arguments: object, **more: str) -> Done:
        command = [TURNGATE, *map(str, arguments)]
        done = subprocess.run(
            command, cwd=tmp_path, env={**environment, **more}, capture_output=True, text=True, timeout=300
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return do


@pytest.fixture
def turngate(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Done]:
    """Run `turngate ARGUMENTS` in an empty folder, in this process."""

    def do(*arguments: object, **more: str) -> Done:
        return call([*map(str, arguments)], tmp_path, {**environment, **more})

    return do


def call(arguments: list[str], folder: Path, environment: Mapping[str, str]) -> Done:
    """Run `turngate ARGUMENTS` in `folder`, in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2))
    with (
        as_started([TURNGATE, *arguments], folder, environment),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = guarded(cli)
    for stream in (out, err):
        stream.seek(0)
    return Done(code, out.read(), err.read())


@contextlib.contextmanager
def as_started(arguments: list[str], folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Arguments, folder, environment and search path of a new process; what is imported from there is forgotten."""
    modules, variables = set(sys.modules), dict(os.environ)
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        own = environment["PYTHONPATH"].split(os.pathsep)
        patch.setattr(sys, "path", [*(path for path in own if path not in sys.path), *sys.path])
        patch.setattr(sys, "argv", arguments)
        try:
            _set_environment(environment)
            yield
        finally:
            _set_environment(variables)
    for name in set(sys.modules) - modules:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent in (PLUGIN, folder):
            del sys.modules[name]


def _set_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a configuration of scripted parts; keyword arguments replace fields."""

    def do(name: str = "run.yaml", **fields: Any) -> Path:
        base = {
            "origin": "skimage:astronaut",
            "scenario": "replicate",
            "turns": 5,
            "editor": {"type": "scripted"},
            "evaluators": {"gray": {"type": "scripted"}},
            "gate": "always_accept",
        }
        path = tmp_path / name
        path.write_text(yaml.safe_dump({**base, **fields}))
        return path

    return do
