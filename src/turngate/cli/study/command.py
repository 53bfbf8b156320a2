"""`turngate study`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turngate.cli.columns import duration, print_words
from turngate.cli.options import json_option, out_option, quiet_option, reader_option, set_option
from turngate.cli.places import PlacePath

if TYPE_CHECKING:
    from turngate.agent.reasoning import SummaryReader
    from turngate.graphs.study import Finished, Study
    from turngate.graphs.study.estimate import StudyEstimate
    from turngate.traces.analysis.labels import Labels

__all__ = ["follow_and_answer", "study_command"]


@click.command("study")
@click.argument("file", type=PlacePath("study file"))
@set_option
@out_option("Folder of the study; default runs/NAME. What is finished there is not run again.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Runs that go at a time.")
@click.option("--plan", "only_plan", is_flag=True, help="Say how many runs, calls, dollars and minutes, and stop.")
@click.option("--labels", type=click.Path(path_type=Path), help="CSV of people's verdicts that stand in for truth.")
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@reader_option
@quiet_option
@json_option
def study_command(
    file: Path,
    overrides: tuple[str, ...],
    out: Path | None,
    jobs: int,
    only_plan: bool,
    labels: Path | None,
    retry_failed: bool,
    reader: str | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Run every arm of the study FILE on every cell of its grid, then answer its question in tables and a page."""
    from turngate.cli.report import summary_reader
    from turngate.graphs.study import check_study, plan_study, run_jobs, unwatched
    from turngate.graphs.study.estimate import estimate
    from turngate.traces.analysis.labels import read_labels

    verdicts = read_labels(labels) if labels else None  # before anything runs
    study = plan_study(file, overrides)
    components, same = check_study(study)
    size = estimate(study, components, probe=only_plan)
    remarks = (*study.remarks, *same)
    if only_plan and as_json:
        print(json.dumps({"study": study.config.name, **asdict(size), "remarks": remarks}))
        return 0
    if not as_json:
        for line in (_plan(study, size, jobs), *remarks):
            print_words(line, error=not only_plan)
    if only_plan:
        return 0
    reads = summary_reader(reader, study.config.reader)  # a missing one is an error before anything is paid
    folder = out or Path("runs") / study.config.name
    found = run_jobs(study, folder, unwatched, jobs, retry_failed)
    return follow_and_answer(found, study, folder, quiet, as_json, reads, reader=reader, labels=verdicts)


def follow_and_answer(
    found: Iterable[Finished],
    study: Study,
    folder: Path,
    quiet: bool,
    as_json: bool,
    reads: SummaryReader,
    *,
    reader: str | None = None,
    labels: Labels | None = None,
    more: Mapping[str, Any] | None = None,
) -> int:
    """Follow the runs of `study` as they end, write their reports and the page, print the answer; the exit code.

    `reads` reads the summaries for the page, `reader` (as `--reader` takes it) for the reports; `more` are further
    fields of the JSON object.
    """
    from turngate.cli.study.answer import say_answer
    from turngate.cli.study.progress import StudyProgress

    ended = list(found if quiet or as_json else StudyProgress(study, folder).follow(found))
    _raise_if_none_began(ended)
    _write_reports(ended, reader)
    say_answer(folder, ended, as_json, reads, labels, more)
    return max((_code(one) for one in ended), default=0)


def _plan(study: Study, size: StudyEstimate, jobs: int) -> str:
    from turngate.errors import counted

    arms = dict.fromkeys((job.arm, job.control) for job in study.jobs)
    controls = sum(control for _, control in arms)
    config = study.config
    axes = {"origin": len(config.origins), "scenario": len(config.scenarios), "editor": len(config.editors)}
    axes["repeat"] = config.repeats if config.repeats > 1 else 0
    grid = "".join(f" x {counted(number, axis)}" for axis, number in axes.items() if number)
    text = (
        f"{config.name}: {counted(size.runs, 'run')} ({counted(len(arms) - controls, 'arm')} and "
        f"{counted(controls, 'control')}{grid}), {counted(size.turns, 'turn', grouped=True)}, "
        f"at most {counted(size.calls_at_most, 'editor call', grouped=True)}"
    )
    if size.paid_calls_at_most:
        usd = (
            "an unknown price: give editor.prices" if size.usd_at_most is None else f"at most ${size.usd_at_most:,.2f}"
        )
        text += f", {size.paid_calls_at_most:,} of them paid, {usd}"
    if size.seconds is not None:
        text += f"; about {duration(size.seconds / min(jobs, size.runs))} with --jobs {jobs}, one attempt per turn"
    return text


def _raise_if_none_began(ended: list[Finished]) -> None:
    """Raise what kept every run from beginning: there is no answer then, only reasons."""
    from turngate.errors import MachineError, NotReady
    from turngate.traces.run_folder import RunFolder

    if not ended or any(RunFolder(one.folder).exists() for one in ended):
        return
    lines = [f"{one.folder}: {one.reason}" for one in ended]
    if all(one.exit_code == NotReady.exit_code for one in ended):
        raise NotReady(lines)
    raise MachineError(f"no run could begin: {lines[0]}")


def _write_reports(ended: list[Finished], reader: str | None) -> None:
    from turngate.cli.report import write_page
    from turngate.traces.run_folder import RunFolder

    owed = [
        one.folder
        for one in ended
        if (one.worked or not (one.folder / "report.html").exists()) and RunFolder(one.folder).exists()
    ]
    with ThreadPoolExecutor(max_workers=2) as pool:  # most of a report is decoding images, which lets others work
        list(pool.map(lambda run: write_page(run, reader), owed))


def _code(one: Finished) -> int:
    from turngate.cli.errors import code_for

    return one.exit_code if one.exit_code is not None else code_for(one.status, one.reason)
