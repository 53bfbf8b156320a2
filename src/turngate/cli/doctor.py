"""`turngate doctor`."""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from turngate.cli._options import json_option

__all__ = ["doctor_command"]


@click.command("doctor")
@json_option
def doctor_command(as_json: bool) -> int:
    """Say what can run here and what is missing."""
    from turngate.cli._parts import KINDS, describe

    machine = _machine()
    parts = {kind: describe(kind) for kind in KINDS}
    if as_json:
        print(json.dumps({"machine": machine, **parts}, ensure_ascii=False))
        return 0
    for name, value in machine.items():
        click.echo(f"{name:<12}{value}")
    for kind, found in parts.items():
        ready = [part["name"] for part in found if part["runs_here"]]
        click.echo(f"{kind:<12}{', '.join(ready)}")
        for part in found:
            if not part["runs_here"]:
                click.echo(f"{'':<12}{part['name']} is missing something: {part['missing']}")
    return 0


def _machine() -> dict[str, Any]:
    return {
        "turngate": version("turngate"),
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "sqlite": sqlite3.sqlite_version,
        "langgraph": version("langgraph"),
        "runs go to": str(Path("runs").resolve()),
        "span model": _span_model(),
    }


def _span_model() -> str:
    from turngate.agent.editors import EDITORS
    from turngate.errors import TurngateError

    try:
        EDITORS.build(EDITORS.configure("span", "editor"))
    except TurngateError as error:
        return str(error)
    return "loads"
