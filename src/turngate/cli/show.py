"""`turngate show`, `list` and `compare`, and the summary that other commands print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turngate.cli.columns import plain
from turngate.cli.options import json_option
from turngate.traces.analysis.run import RunSummary

if TYPE_CHECKING:
    from turngate.traces.telemetry import Dropped

__all__ = ["print_summary"]


@click.command("show")
@click.argument("run", type=click.Path(path_type=Path))
@json_option
def show_command(run: Path, as_json: bool) -> int:
    """Show RUN in numbers, from its ledger; works while it is running."""
    from turngate.traces.analysis.run import RunView, summarise

    view = RunView.load(run)
    report = view.folder.report_file if view.folder.report_file.exists() else None
    print_summary(summarise(view), report, as_json)
    return 0


# The summary of a run on the terminal, or as one JSON object.


def print_summary(
    summary: RunSummary, report: Path | None, as_json: bool, *, worked: bool = True, dropped: Dropped | None = None
) -> None:
    """Print the numbers of one run."""
    if as_json:
        data = summary.model_dump(mode="json")
        data |= {"report": str(report) if report else None, "worked": worked}
        data |= {f"dropped_{what}": getattr(dropped, what, 0) for what in ("spans", "events", "points")}
        print(json.dumps(data, ensure_ascii=False))
        return
    if not worked:
        click.echo("nothing to do: this run is finished")
    for title, text in _lines(summary, report, dropped):
        click.echo(f"{title:<12}{text}")


def _lines(summary: RunSummary, report: Path | None, dropped: Dropped | None) -> list[tuple[str, str]]:
    status = summary.status + (f": {plain(summary.reason)}" if summary.reason else "")
    lines = [("run", plain(summary.run)), ("status", status)]
    if summary.simulated:
        lines.append(("editor", "SIMULATED: its damage is written by hand"))
    turns = (
        f"{summary.turns} of {summary.turns_planned} closed: {summary.accepted} accepted, {summary.rejected} rejected"
    )
    turns += f", {summary.forced} forced" if summary.forced else ""
    turns += f", {summary.no_change} unchanged" if summary.no_change else ""
    lines.append(("turns", turns))
    attempts = f"{summary.attempts} editor calls, {summary.rejected_attempts} rejected"
    lines.append(("attempts", attempts + (f", {summary.no_images} without an image" if summary.no_images else "")))
    if summary.truth is None:
        lines.append(("truth", "not measured in this run"))
    else:
        unknown = f", {summary.truth_unknown} unknown" if summary.truth_unknown else ""
        lines.append(("truth", plain(summary.truth)))
        lines.append(("damaged", f"{summary.caught} caught, {summary.propagated} propagated"))
        lines.append(("sound", f"{summary.passed} passed, {summary.false_alarms} false alarms{unknown}"))
        lines.append(("collapse", f"turn {summary.collapse_turn}" if summary.collapse_turn else "none"))
    for name, counts in summary.counts.items():
        text = f"{counts.scored} scored, {counts.unscored} unscored, {counts.failed} failed, {counts.skipped} skipped"
        lines.append(("scores", f"{plain(name)}: {text}"))
    if summary.cost_usd is not None:
        lines.append(("cost", f"${summary.cost_usd:.4f}"))
    if dropped:
        lines.append(("telemetry", f"{dropped} were not delivered"))
    if report is not None:
        lines.append(("report", plain(str(report))))
    return lines


# `turngate compare`.


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@json_option
def compare_command(a: Path, b: Path, as_json: bool) -> int:
    """Say how run B differs from run A: in configuration, versions and outcome, and where they part."""
    from rich.console import Console
    from rich.table import Table

    from turngate.cli.columns import plain
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


# `turngate list`.


@click.command("list")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@json_option
def list_command(folder: Path, as_json: bool) -> int:
    """List the runs below FOLDER (default: runs), oldest first."""
    from rich.console import Console
    from rich.table import Table

    from turngate.errors import MachineError, UserError
    from turngate.traces.analysis.run import RunView, summarise
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
