"""`turngate list`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from turngate.cli._options import json_option

__all__ = ["list_command"]


@click.command("list")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@json_option
def list_command(folder: Path, as_json: bool) -> int:
    """List the runs below FOLDER (default: runs), oldest first."""
    from rich.console import Console
    from rich.table import Table

    from turngate.errors import MachineError, UserError
    from turngate.traces.analysis.run import RunSummary, RunView, summarise
    from turngate.traces.run_folder import find_runs

    if not folder.is_dir():
        raise UserError(f"no folder at {folder}: give one that holds runs")
    summaries: list[RunSummary] = []
    broken: list[dict[str, str]] = []
    for path in find_runs(folder):
        try:
            summaries.append(summarise(RunView.load(path)))
        except (MachineError, UserError) as error:
            broken.append({"run": str(path), "error": str(error)})
    if as_json:
        runs = [summary.model_dump(mode="json") for summary in summaries]
        print(json.dumps({"runs": runs, "unreadable": broken}, ensure_ascii=False))
        return 0
    table = Table(box=None)
    for title in ("run", "status", "turns", "accepted", "rejected", "forced", "caught", "propagated", "collapse"):
        table.add_column(title, justify="left" if title in ("run", "status") else "right", overflow="fold")
    for summary in summaries:
        numbers = (
            summary.accepted, summary.rejected, summary.forced,
            summary.caught, summary.propagated, summary.collapse_turn,
        )  # fmt: skip
        shown = ["-" if number is None else str(number) for number in numbers]
        table.add_row(summary.run, summary.status, f"{summary.turns}/{summary.turns_planned}", *shown)
    Console().print(table if summaries else f"no runs below {folder}")
    for item in broken:
        click.echo(f"unreadable: {item['run']}: {item['error']}", err=True)
    return 0
