"""`turngate study`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turngate.cli._options import json_option, out_option, quiet_option, set_option

if TYPE_CHECKING:
    from turngate.graphs.runner import Ended
    from turngate.graphs.session import Observer
    from turngate.graphs.study import Study
    from turngate.traces.analysis.summary import RunSummary

__all__ = ["study_command"]


@dataclass(frozen=True)
class Watch:
    """Makes the live view of an arm; a class, so that it can be sent to another process."""

    quiet: bool
    together: bool
    """Several arms run at a time: plain lines that name their arm, no table."""

    @contextmanager
    def __call__(self, name: str, path: Path) -> Iterator[Sequence[Observer]]:
        """Observers of the arm `name`, whose run is in `path`."""
        from turngate.cli._live import Live

        if self.quiet:
            yield []
            return
        with Live(path, label=f"{name}: " if self.together else "") as live:
            yield [live]


@click.command("study")
@click.argument("file", type=click.Path(path_type=Path))
@set_option
@out_option("Folder of the study; default runs/NAME. What is finished there is not run again.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Arms that run at a time.")
@quiet_option
@json_option
def study_command(
    file: Path, overrides: tuple[str, ...], out: Path | None, jobs: int, quiet: bool, as_json: bool
) -> int:
    """Run every arm of the study FILE, then compare them in one table and one page."""
    from turngate.graphs.study import read_study, run_study
    from turngate.traces.analysis.run_view import RunView
    from turngate.traces.analysis.summary import summarise
    from turngate.traces.report.study_page import write_study_page

    study = read_study(file, overrides)
    folder = out or Path("runs") / study.config.name

    watch = Watch(quiet=quiet or as_json, together=jobs > 1)
    ended = run_study(study, folder, watch, jobs)
    _write_reports(ended)
    page = write_study_page(
        folder,
        study.config.name,
        study.config.question,
        {name: item.folder for name, item in ended.items()},
        study.config.notes,
    )
    summaries = {name: summarise(RunView.load(item.folder)) for name, item in ended.items()}
    _say(study, summaries, ended, page, as_json)
    return max((_code(item) for item in ended.values()), default=0)


def _write_reports(ended: dict[str, Ended]) -> None:
    from turngate.traces.report.run_report import write_run_report

    owed = [item.folder for item in ended.values() if item.worked or not (item.folder / "report.html").exists()]
    with ThreadPoolExecutor(max_workers=2) as pool:  # most of a report is decoding images, which lets others work
        list(pool.map(write_run_report, owed))


def _say(study: Study, summaries: dict[str, RunSummary], ended: dict[str, Ended], page: Path, as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    worked = any(item.worked for item in ended.values())
    if as_json:
        arms = {name: summary.model_dump(mode="json") for name, summary in summaries.items()}
        print(json.dumps({"study": study.config.name, "arms": arms, "page": str(page), "worked": worked}))
        return
    if not worked:
        click.echo("nothing to do: every arm is finished")
    click.echo(f"\n{study.config.question}\n")
    table = Table(box=None)
    columns = (
        "arm",
        "accepted",
        "rejected",
        "forced",
        "caught",
        "propagated",
        "passed",
        "false alarms",
        "collapse",
        "truth at end",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "arm" else "right")
    for name, summary in summaries.items():
        end = (
            "-"
            if summary.final_truth is None
            else f"{summary.final_truth:.3g} {'damaged' if summary.final_damaged else 'sound'}"
        )
        numbers = (summary.accepted, summary.rejected, summary.forced, summary.caught, summary.propagated)
        more = (summary.passed, summary.false_alarms)
        collapse = f"turn {summary.collapse_turn}" if summary.collapse_turn else "none"
        table.add_row(name, *("-" if n is None else str(n) for n in (*numbers, *more)), collapse, end)
    Console(width=max(124, Console().width)).print(table)
    truths = {summary.truth for summary in summaries.values() if summary.truth}
    for truth in sorted(truths):
        click.echo(f"\ntruth: {truth}. Turns are counted under accepted, rejected, forced; candidates elsewhere.")
    click.echo(f"page: {page}")


def _code(item: Ended) -> int:
    from turngate.cli.exit_codes import code_for

    return code_for(item.status, item.reason)
