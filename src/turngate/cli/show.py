"""`turngate show`, and the summary that other commands print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turngate.cli._columns import plain
from turngate.cli._options import json_option
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
