"""`turngate show`, `list` and `compare`, and the summary that other commands print."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from turngate.cli.columns import plain, print_rows, print_titled, print_words
from turngate.cli.options import json_option
from turngate.cli.places import PlacePath
from turngate.traces.analysis.run import RunSummary, summary_lines

__all__ = ["print_summary"]


@click.command("show")
@click.argument("run", type=PlacePath("run", "run.json"))
@json_option
def show_command(run: Path, as_json: bool) -> int:
    """Show RUN in numbers, from its ledger; works while it is running."""
    from turngate.traces.analysis.run import RunView, summarise

    view = RunView.load(run)
    report = view.folder.report_file if view.folder.report_file.exists() else None
    print_summary(summarise(view), report, as_json)
    return 0


# The summary of a run on the terminal, or as one JSON object.


def print_summary(summary: RunSummary, report: Path | None, as_json: bool, *, worked: bool = True) -> None:
    """Print the verdict of one run, and the numbers behind it."""
    if as_json:
        data = summary.model_dump(mode="json")
        data |= {"report": str(report) if report else None, "worked": worked}
        lost = summary.lost_telemetry  # None, and so null: it is not known how many
        data |= {f"dropped_{what}": getattr(lost, what, None) for what in ("spans", "events", "points")}
        print(json.dumps(data, ensure_ascii=False))
        return
    if not worked:
        click.echo("nothing to do: this run is finished")
    print_titled(summary_lines(summary))
    if report is not None:
        click.echo(f"{'report':<12}{plain(str(report))}")  # whole, to be copied


# `turngate compare`.


@click.command("compare")
@click.argument("a", type=PlacePath("run", "run.json"))
@click.argument("b", type=PlacePath("run", "run.json"))
@json_option
def compare_command(a: Path, b: Path, as_json: bool) -> int:
    """Say how run B differs from run A: in configuration, versions and outcome, and where they part."""
    from turngate.traces.analysis.run import RunView, compare_runs

    found = compare_runs(RunView.load(a), RunView.load(b))
    if as_json:
        print(found.model_dump_json())
        return 0
    for name, summary in (("A", found.a), ("B", found.b)):
        print_words(f"{name}: {summary.verdict.words}")
    titles = {"configuration": found.config, "versions": found.made_with, "outcome": found.outcome}
    for title, changes in titles.items():
        if not changes:
            click.echo(f"{title}: the same")
            continue
        rows = [{title: one.field, "A": plain(_shown(one.a), 200), "B": plain(_shown(one.b), 200)} for one in changes]
        print_rows(rows, left=("A", "B"))
        click.echo()
    parting = found.parting
    if parting is None:
        click.echo("every attempt is the same")
        return 0
    print_words(f"they part at turn {parting.turn}, attempt {parting.attempt}: {parting.what}")
    for name, value in (("A", parting.a), ("B", parting.b)):
        print_words(f"{name}: {plain(value or '-', 200)}")
    return 0


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


# `turngate list`.


@click.command("list")
@click.argument("folder", type=PlacePath("run", "study", "runs", "folder"), default=Path("runs"))
@json_option
def list_command(folder: Path, as_json: bool) -> int:
    """List the runs below FOLDER (default: runs), oldest first."""
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
    print_rows([_listed(summary, folder) for summary in summaries], left=("status", "verdict"))
    if summaries:
        print_words("progress: new sound images per 100 turns; episodes: caught / stalled / propagated")
    else:
        click.echo(f"no runs below {plain(str(folder))}")
    for item in broken:
        click.echo(f"unreadable: {plain(item['run'])}: {plain(item['error'])}", err=True)
    return 0


def _listed(summary: RunSummary, folder: Path) -> dict[str, str]:
    from turngate.traces.analysis.run import VERDICT_WORDS

    answer, ends = summary.answer, summary.answer.episodes
    last = str(answer.last_new_turn) if answer.last_new_turn else "never"
    return {
        "run": os.path.relpath(summary.run, folder),
        "status": summary.status,
        "turns": f"{summary.turns}/{summary.turns_planned}",
        "verdict": VERDICT_WORDS[summary.verdict.kind] + (" (SIMULATED)" if summary.simulated else ""),
        "progress": "-" if answer.progress is None else f"{answer.progress:.3g}",
        "exposure": "-" if answer.exposure is None else f"{100 * answer.exposure:.0f} %",
        "last new": last + (", stalled" if answer.stalled_since is not None else ""),
        "episodes": f"{ends.caught} / {ends.stalled} / {ends.propagated}" if answer.known else "-",
    }
