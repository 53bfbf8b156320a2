"""`turngate doctor`: what can run here, and what the components of a configuration lack."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from turngate.agent.editors import EDITORS
from turngate.agent.gates import GATES
from turngate.agent.reasoning import READERS
from turngate.agent.scenarios import SCENARIOS
from turngate.cli.options import json_option
from turngate.component import ComponentConfig, missing_here
from turngate.errors import TurngateError, one_line
from turngate.evaluators import EVALUATORS
from turngate.graphs.config import RunConfig, truth_field
from turngate.graphs.load import read_config, read_mapping
from turngate.graphs.study.plan import read_study
from turngate.registry import Registry

__all__ = ["ComponentCheck", "examine"]


@click.command("doctor")
@click.argument("config", type=click.Path(path_type=Path), required=False)
@json_option
def doctor_command(config: Path | None, as_json: bool) -> int:
    """Say what can run here and what is missing.

    With CONFIG (of a run or a study) only its own components are looked at, each with its settings: they are built as
    the run would build them, but nothing is downloaded. Ends with 2 when one of them cannot run.
    """
    if config is not None:
        return _say_findings(config, as_json)
    from turngate.cli.components import KINDS, describe

    machine = _machine()
    components = {kind: describe(kind) for kind in KINDS}
    if as_json:
        print(json.dumps({"machine": machine, **components}, ensure_ascii=False))
        return 0
    for name, value in machine.items():
        click.echo(f"{name:<12}{value}")
    for kind, found in components.items():
        ready = [component["name"] for component in found if component["runs_here"]]
        click.echo(f"{kind:<12}{', '.join(ready)}")
        for component in found:
            if not component["runs_here"]:
                click.echo(f"{'':<12}{component['name']} is missing something: {component['missing']}")
            elif component["setup"]:
                setup = component["setup"][:1].lower() + component["setup"][1:].removesuffix(".")
                click.echo(f"{'':<12}{component['name']} needs {setup}: `turngate doctor CONFIG` looks for it")
    return 0


def _say_findings(config: Path, as_json: bool) -> int:
    findings = examine(config)
    if as_json:
        print(json.dumps({"components": [asdict(finding) for finding in findings]}, ensure_ascii=False))
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
    try:
        EDITORS.build(EDITORS.configure("span", "editor"))
    except TurngateError as error:
        return str(error)
    return "loads"


# What is missing on this machine for the components of a configuration.


@dataclass(frozen=True)
class ComponentCheck:
    """One component of a configuration."""

    field: str
    """Its field: `editor`, `evaluators.NAME`, ..."""
    type: str
    missing: str | None
    """In one line; None when it can run here."""


def examine(path: Path) -> list[ComponentCheck]:
    """Build every component of a run or study as its start would, downloading nothing, and say what each lacks.

    Raises `ConfigError` for a configuration that is wrong. The process may download nothing afterwards either.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"  # the library reads it when it is imported
    is_study = "arms" in read_mapping(path)
    configs = [job.config for job in read_study(path).jobs] if is_study else [read_config(path)]
    components = {
        (field, repr(component)): (registry, component) for one in configs for field, registry, component in _parts(one)
    }
    missing = {
        key: missing_here(registry.find(component.type), component) for key, (registry, component) in components.items()
    }
    os.environ["TURNGATE_OFFLINE"] = "1"
    return [
        ComponentCheck(key[0], component.type, missing[key] or _why_not(registry, component))
        for key, (registry, component) in components.items()
    ]


def _parts(config: RunConfig) -> Iterator[tuple[str, Registry[Any], ComponentConfig]]:
    yield "editor", EDITORS, config.editor
    for name, component in config.evaluators.items():
        yield from _evaluators(f"evaluators.{name}", component)
    yield "gate", GATES, config.gate
    yield "scenario", SCENARIOS, config.scenario
    if config.reader is not None:
        yield "reader", READERS, config.reader
    for name, truth in config.truths.items():
        if isinstance(truth.measure, ComponentConfig):
            yield from _evaluators(truth_field(name), truth.measure)


def _evaluators(field: str, config: ComponentConfig) -> Iterator[tuple[str, Registry[Any], ComponentConfig]]:
    """An evaluator, or the members of one that is made of several."""
    members: Mapping[str, ComponentConfig] | None = getattr(config, "members", None)
    if members is None:
        yield field, EVALUATORS, config
    for name, member in (members or {}).items():
        yield from _evaluators(f"{field}.members.{name}", member)


def _why_not(registry: Registry[Any], config: ComponentConfig) -> str | None:
    try:
        registry.build(config)
    except TurngateError as error:
        return str(error)
    except Exception as error:  # a plug-in may raise anything; the others are looked at all the same
        return f"{type(error).__name__}: {one_line(error)}"
    return None
