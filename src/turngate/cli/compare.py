"""`turngate compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turngate.cli._options import json_option

__all__ = ["compare_command"]


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@json_option
def compare_command(a: Path, b: Path, as_json: bool) -> int:
    """Say how run B differs from run A: in configuration, versions and outcome, and where they part."""
    from rich.console import Console
    from rich.table import Table

    from turngate.cli._columns import plain
    from turngate.traces.analysis.run import RunView, compare_runs

    found = compare_runs(RunView.load(a), RunView.load(b))
    if as_json:
        print(found.model_dump_json())
        return 0
    console = Console(highlight=False)
    titles = {"configuration": found.config, "versions": found.made_with, "outcome": found.outcome}
    for title, changes in titles.items():
        if not changes:
            click.echo(f"{title}: the same")
            continue
        table = Table(box=None)
        for column in (title, "A", "B"):
            table.add_column(column, overflow="fold")
        for change in changes:
            table.add_row(plain(change.field), plain(_shown(change.a), 200), plain(_shown(change.b), 200))
        console.print(table)
        click.echo()
    parting = found.parting
    if parting is None:
        click.echo("every attempt is the same")
        return 0
    click.echo(f"they part at turn {parting.turn}, attempt {parting.attempt}: {parting.what}")
    for name, value in (("A", parting.a), ("B", parting.b)):
        click.echo(f"  {name}: {plain(value or '-', 200)}")
    return 0


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
