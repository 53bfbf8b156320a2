"""`turngate editors`, `evaluators`, `gates`, `scenarios` and `readers`; `turngate graph`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from turngate.agent.editors import EDITORS
from turngate.agent.gates import GATES
from turngate.agent.reasoning import READERS
from turngate.agent.scenarios import SCENARIOS
from turngate.cli.options import json_option, out_option
from turngate.component import ComponentClass, ComponentConfig, missing_here, missing_modules, summary
from turngate.errors import TurngateError
from turngate.evaluators import EVALUATORS, Facts
from turngate.registry import Registry

__all__ = ["KINDS", "all_names", "describe"]


_COLUMNS = {
    "editors": ["name", "what", "setup", "here"],
    "readers": ["name", "what", "setup", "here"],
    "evaluators": ["name", "better", "range", "inputs", "here", "what"],
}
_LICENCE = "pyiqa's licence is PolyForm Noncommercial and S-Lab; that of each metric's weights is its authors'."


def _list(kind: str, as_json: bool, names: Sequence[str] | None = None) -> int:
    from turngate.cli.columns import print_rows, print_words

    components = describe(kind, names)
    if as_json:
        print(json.dumps({kind: components}, ensure_ascii=False))
        return 0
    columns = _COLUMNS.get(kind, ["name", "here", "what"])
    print_rows([{column: _cell(component, column) for column in columns} for component in components], left=columns)
    for heading, lines in _remarks(components):
        click.echo()
        for line in filter(None, (heading, *lines)):
            print_words(line)
    click.echo()
    print_words(f"Fields of one: turngate {kind} --json. How to add one: docs/extending.md")
    return 0


def _cell(component: dict[str, Any], column: str) -> str:
    if column == "here":
        return "yes" if component["runs_here"] else "no"
    return str(component.get(column) or "")


def _remarks(components: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Below the table, where there is room: what is missing, and whose licence holds."""
    missing = {component["name"]: component["missing"] for component in components if not component["runs_here"]}
    if missing:
        yield "Not here:", [f"{name}: {what}" for name, what in missing.items()]
    if any(component["name"].startswith("pyiqa:") for component in components):
        family = any(component["name"] == "pyiqa:<name>" for component in components)
        more = ["Its metrics one by one, with what is missing for each: turngate evaluators --all"] if family else []
        yield _LICENCE, more


@click.command("editors")
@json_option
def editors_command(as_json: bool) -> int:
    """List the editors and whether they can run here."""
    return _list("editors", as_json)


@click.command("evaluators")
@click.option("--suite", metavar="NAME", help="Only what is in a suite: classic, banana100-known, nr-all.")
@click.option("--all", "every", is_flag=True, help="The metrics of families (pyiqa:...) one by one.")
@json_option
def evaluators_command(suite: str | None, every: bool, as_json: bool) -> int:
    """List the evaluators with their facts and whether they can run here."""
    from turngate.evaluators.suites import members

    names = members(suite) if suite else all_names("evaluators") if every else None
    return _list("evaluators", as_json, names)


@click.command("gates")
@json_option
def gates_command(as_json: bool) -> int:
    """List the gates."""
    return _list("gates", as_json)


@click.command("scenarios")
@json_option
def scenarios_command(as_json: bool) -> int:
    """List the scenarios."""
    return _list("scenarios", as_json)


@click.command("readers")
@json_option
def readers_command(as_json: bool) -> int:
    """List the readers of reasoning summaries and whether they can run here."""
    return _list("readers", as_json)


# What the registries know about each component, without building one.

KINDS: dict[str, Registry[Any]] = {
    "editors": EDITORS,
    "evaluators": EVALUATORS,
    "gates": GATES,
    "readers": READERS,
    "scenarios": SCENARIOS,
}
"""Kind of component -> its registry."""
_RENDERED_FACTS = ("name", "direction", "range", "inputs")
"""Facts that a listing gives under another name, or in another form."""


def describe(kind: str, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Name, purpose, configuration fields, and whether it can run here, of each of `names`; without them of all."""
    registry = KINDS[kind]
    return [_describe(registry, name) for name in (registry.names() if names is None else names)]


def all_names(kind: str) -> list[str]:
    """Names of the components, those of families included."""
    found: list[str] = []
    for name in KINDS[kind].names():
        members = getattr(KINDS[kind].find(name), "members", None) if name.endswith(">") else None
        found += [name] if members is None else members()
    return found


def _describe(registry: Registry[Any], name: str) -> dict[str, Any]:
    try:
        component = registry.find(name)
    except TurngateError as error:  # a plug-in that does not load must not hide the others
        return {"name": name, "what": "", "fields": {}, "runs_here": False, "missing": str(error)}
    modules = missing_modules(component)
    missing = _how(modules) or missing_here(component, _named(component, name))
    row: dict[str, Any] = {
        "name": name,
        "what": summary(component),
        "fields": _fields(component),
        "setup": summary(component.missing) if hasattr(component, "missing") else "",
        "runs_here": missing is None,
        "missing": missing,
    }
    facts = None if modules else _facts(component, name)
    if facts is not None:
        low, high = facts.range
        if hasattr(component, "facts_of") and not name.endswith(">"):
            row["what"] = facts.source
        row |= {
            "better": facts.direction,
            "range": f"{'~' if facts.range_is_approximate else ''}{low:g}..{high:g}",
            "inputs": ", ".join(sorted(facts.inputs - {"candidate"})),
            **{fact: value for fact, value in asdict(facts).items() if fact not in _RENDERED_FACTS},
        }
    return row


def _facts(component: type[ComponentClass], name: str) -> Facts | None:
    """Facts of an evaluator with default settings; None where it has none without settings."""
    if name.endswith(">") or not hasattr(component, "evaluate"):
        return None
    if hasattr(component, "facts_of"):  # of a family, without building the member
        stated = component.facts_of(component.Config(type=name))
        return stated if isinstance(stated, Facts) else None
    stated = getattr(component, "facts", None)
    if stated is None or not component.requires:  # an instance knows more, and a light one is built at once
        with contextlib.suppress(Exception):  # it needs settings; and a plug-in that breaks must not hide the others
            stated = getattr(component(component.Config(type=name)), "facts", None)
    return stated if isinstance(stated, Facts) else None


def _named(component: type[ComponentClass], name: str) -> ComponentConfig | None:
    """The settings of a member of a family, which its name makes; None for any other component."""
    return component.Config(type=name) if hasattr(component, "facts_of") and not name.endswith(">") else None


def _fields(component: type[ComponentClass]) -> dict[str, str]:
    """Field -> what it means, with its default."""
    fields = {}
    for name, field in component.Config.model_fields.items():
        if name == "type":
            continue
        default = "required" if field.is_required() else f"default {field.get_default(call_default_factory=True)!r}"
        fields[name] = f"{' '.join((field.description or '').split())} ({default})"
    return fields


def _how(missing: dict[str, str]) -> str | None:
    extras = sorted({extra for extra in missing.values() if extra})
    if extras:
        return f"pip install 'turngate[{','.join(extras)}]'"
    return f"pip install {' '.join(sorted(missing))}" if missing else None


# `turngate graph`.


@click.command("graph")
@out_option("Draw to this file instead: .png, .svg or .mmd.")
@json_option
def graph_command(out: Path | None, as_json: bool) -> int:
    """Print the state machine as Mermaid text, or draw it without network."""
    from turngate.errors import MachineError, UserError
    from turngate.graphs.machine import draw, mermaid

    if out is None:
        click.echo(json.dumps({"mermaid": mermaid()}) if as_json else mermaid())
        return 0
    if out.suffix not in (".png", ".svg", ".mmd"):
        raise UserError(f"--out {out}: give a name that ends in .png, .svg or .mmd")
    try:
        out.write_bytes(mermaid().encode() if out.suffix == ".mmd" else draw(out.suffix.removeprefix(".")))
    except OSError as error:
        raise MachineError(f"cannot write {out}: {error.strerror or error}") from error
    click.echo(json.dumps({"drawing": str(out)}, ensure_ascii=False) if as_json else out)
    return 0
