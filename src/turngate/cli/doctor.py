"""`turngate doctor`: what can run here, and what the components of a configuration lack."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import click

from turngate.agent.editors import EDITORS
from turngate.cli.columns import plain, print_titled, print_words
from turngate.cli.options import json_option
from turngate.cli.places import PlacePath, place_of
from turngate.component import missing_here
from turngate.errors import TurngateError
from turngate.graphs.load import read_config
from turngate.graphs.readiness import Faults, Readiness, components_of
from turngate.graphs.study import plan_study, same_origins

__all__ = ["ComponentCheck", "examine"]


@click.command("doctor")
@click.argument("config", type=PlacePath("config", "run.json", "study file"), required=False)
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
    lines = [(name, str(value)) for name, value in machine.items()]
    for kind, found in components.items():
        lines.append((kind, ", ".join(component["name"] for component in found if component["runs_here"])))
        for component in found:
            if not component["runs_here"]:
                lines.append(("", f"{component['name']} is missing something: {component['missing']}"))
            elif component["setup"]:
                setup = component["setup"][:1].lower() + component["setup"][1:].removesuffix(".")
                lines.append(("", f"{component['name']} needs {setup}: `turngate doctor CONFIG` looks for it"))
    print_titled(lines)
    return 0


def _say_findings(config: Path, as_json: bool) -> int:
    findings, remarks = examine(config)
    if as_json:
        checks = [asdict(finding) for finding in findings]
        print(json.dumps({"components": checks, "remarks": remarks}, ensure_ascii=False))
    else:
        for finding in findings:
            well = "can be read" if finding.field == "origin" else "can run here"
            print_words(f"{finding.field} ({plain(finding.type)}): {plain(finding.missing or well, 1000)}")
        for remark in remarks:
            click.echo(f"note: {plain(remark, 1000)}")
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


def examine(path: Path) -> tuple[list[ComponentCheck], list[str]]:
    """Look at every origin and component of a run or study as its start would, downloading nothing; and remarks.

    Where a run's components are all here they are also held against each other. Raises `ConfigError` for a
    configuration that is wrong. The process may download nothing afterwards either.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"  # the library reads it when it is imported
    study = plan_study(path) if place_of(path) == "study file" else None
    configs = [job.config for job in study.jobs] if study else [read_config(path)]
    parts = [list(components_of(config)) for config in configs]
    lacking = {
        (registry.kind, repr(component)): missing_here(registry.find(component.type), component)
        for _, registry, component in chain(*parts)
    }
    os.environ["TURNGATE_OFFLINE"] = "1"  # from here on components are built, and may not fetch what they lack
    ready = Readiness(fetch=False)
    found: dict[tuple[str, str], ComponentCheck] = {}
    whole = []
    for config, inside in zip(configs, parts, strict=True):
        checks = [("origin", repr(config.origin), config.origin.image, _said(ready.origin(config.origin)))]
        for field, registry, component in inside:
            missing = lacking[registry.kind, repr(component)] or _said(ready.component(registry, component))
            checks.append((field, repr(component), component.type, missing))
        for field, key, kind, missing in checks:
            found.setdefault((field, key), ComponentCheck(field, kind, missing))
        whole.append(all(missing is None for *_, missing in checks))
    wrong = study.faults if study else Faults()
    places = [job.place for job in study.jobs] if study else [""]
    ready.faults = wrong
    for place, config, is_here in zip(places, configs, whole, strict=True):
        if is_here:
            ready.look(place, config)
    same = same_origins(study, ready) if study else ()
    return [*found.values(), *(ComponentCheck("configuration", path.name, line) for line in wrong.lines())], list(same)


def _said(found: object) -> str | None:
    return str(found) if isinstance(found, TurngateError) else None
