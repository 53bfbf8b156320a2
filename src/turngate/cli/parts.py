"""`turngate editors`, `evaluators`, `gates` and `scenarios`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import click

from turngate.cli._options import json_option

__all__ = ["editors_command", "evaluators_command", "gates_command", "scenarios_command"]

_COLUMNS = {
    "editors": ["name", "what", "needs_here", "here"],
    "evaluators": ["name", "better", "range", "needs", "here", "what"],
}
_LICENCE = "pyiqa's licence is PolyForm Noncommercial and S-Lab; that of each metric's weights is its authors'."


def _list(kind: str, as_json: bool, names: Sequence[str] | None = None) -> int:
    from rich.console import Console
    from rich.table import Table

    from turngate.cli._parts import describe

    parts = describe(kind, names)
    if as_json:
        print(json.dumps({kind: parts}, ensure_ascii=False))
        return 0
    table = Table(box=None)
    columns = _COLUMNS.get(kind, ["name", "here", "what"])
    for column in columns:
        table.add_column(column.removesuffix("_here"), overflow="fold", no_wrap=column in ("name", "better", "range"))
    for part in parts:
        table.add_row(*(_cell(part, column) for column in columns))
    Console().print(table)
    for line in _remarks(parts):
        click.echo(line)
    click.echo(f"\nFields of one: turngate {kind} --json. How to add one: docs/extending.md")
    return 0


def _cell(part: dict[str, Any], column: str) -> str:
    if column == "here":
        return "yes" if part["runs_here"] else "no"
    return str(part.get(column) or "")


def _remarks(parts: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Below the table, where there is room: what is missing, and whose licence holds."""
    missing = {part["name"]: part["missing"] for part in parts if not part["runs_here"]}
    if missing:
        yield "\nNot here:"
    for name, what in missing.items():
        yield f"  {name}: {what}"
    if any(part["name"].startswith("pyiqa:") for part in parts):
        yield f"\n{_LICENCE}"
    if any(part["name"] == "pyiqa:<name>" for part in parts):
        yield "Its metrics one by one, with what is missing for each: turngate evaluators --all"


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
    from turngate.cli._parts import all_names
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
