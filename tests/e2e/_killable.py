"""The program in a process that can be killed and costs little to start: a fork of one that has imported everything."""

from __future__ import annotations

import os
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tests.cli.program import TURNGATE, as_started

from turngate.cli import cli
from turngate.cli.errors import guarded

__all__ = ["start"]

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, "turngate.cli.run", "turngate.graphs.machine", "turngate.graphs.runner"])


def start(arguments: list[object], folder: Path, environment: dict[str, str]) -> ForkServerProcess:
    """`turngate ARGUMENTS` in `folder`; what it prints is thrown away."""
    process = _CONTEXT.Process(target=_program, args=([TURNGATE, *map(str, arguments)], folder, environment))
    process.start()
    return process


def _program(arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    with as_started(arguments, folder, environment):
        raise SystemExit(guarded(cli))
