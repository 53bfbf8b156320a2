"""`turngate doctor`."""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from turngate.cli._options import json_option

__all__ = ["doctor_command"]


@click.command("doctor")
@click.argument("config", type=click.Path(path_type=Path), required=False)
@json_option
def doctor_command(config: Path | None, as_json: bool) -> int:
    """Say what can run here and what is missing.

    With CONFIG (of a run or a study) only its own parts are looked at, each with its settings: they are built as the
    run would build them, but nothing is downloaded. Ends with 2 when one of them cannot run.
    """
    if config is not None:
        return _say_findings(config, as_json)
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
            elif part["needs_here"]:
                click.echo(f"{'':<12}{part['name']} needs {part['needs_here']}: `turngate doctor CONFIG` looks for it")
    return 0


def _say_findings(config: Path, as_json: bool) -> int:
    from turngate.cli._examined import examine

    findings = examine(config)
    if as_json:
        print(json.dumps({"parts": [asdict(finding) for finding in findings]}, ensure_ascii=False))
    else:
        for finding in findings:
            click.echo(f"{finding.field} ({finding.type}): {finding.missing or 'can run here'}")
    return 2 if any(finding.missing for finding in findings) else 0


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
