"""`turngate run`, `resume` and `fork`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turngate.cli.options import json_option, out_option, quiet_option, reader_option, set_option
from turngate.cli.places import PlacePath
from turngate.errors import MachineError, UserError

if TYPE_CHECKING:
    from turngate.graphs.runner import Ended
    from turngate.graphs.session import Observer

__all__ = ["finish", "new_command", "watched"]


@click.command("run")
@click.argument("config", type=PlacePath("config", "run.json"))
@set_option
@out_option("Folder of the run; default runs/<run id>. A run of the same configuration there goes on.")
@reader_option
@quiet_option
@json_option
def run_command(
    config: Path, overrides: tuple[str, ...], out: Path | None, reader: str | None, quiet: bool, as_json: bool
) -> int:
    """Run CONFIG (YAML, or the run.json of another run) to its end and write its report."""
    from turngate.cli.report import summary_reader
    from turngate.graphs.load import read_config
    from turngate.graphs.runner import run_id_for, start_run

    settings = read_config(config, overrides)
    summary_reader(reader, settings.reader)  # a missing one is an error before anything is paid
    run_id = run_id_for(settings)
    folder = out or Path("runs") / run_id
    ended = watched(folder, quiet, as_json, lambda observers: start_run(settings, folder, observers, run_id))
    return finish(ended, as_json, reader)


def _forks_elsewhere(context: click.Context, option: click.Parameter, given: bool) -> None:
    if given:
        raise UserError("resume continues a run and starts none: for a child run there is `turngate fork RUN`")


@click.command("resume")
@click.argument("run", type=PlacePath("run", "run.json"))
@set_option
@click.option("--fork", is_flag=True, hidden=True, expose_value=False, callback=_forks_elsewhere)
@click.option("--accept", "verdict", flag_value="accept", help="Accept the candidate that waits for a person.")
@click.option("--reject", "verdict", flag_value="reject", help="Reject the candidate that waits for a person.")
@click.option("--comment", default="", help="Kept with --accept or --reject.")
@click.option("--by", default="", help="Your name, kept with --accept or --reject.")
@reader_option
@quiet_option
@json_option
def resume_command(
    run: Path,
    overrides: tuple[str, ...],
    verdict: str | None,
    comment: str,
    by: str,
    reader: str | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Continue RUN (a run folder). Budgets, driver and telemetry may change; for anything else there is `fork`."""
    from turngate.cli.report import summary_reader
    from turngate.graphs.runner import changed_config, continue_run
    from turngate.graphs.work import Review

    if (comment or by) and not verdict:
        raise UserError("--comment and --by belong to a decision: add --accept or --reject")
    settings = changed_config(run, overrides)
    summary_reader(reader, settings.reader)
    review = Review(verdict == "accept", comment, by) if verdict else None
    ended = watched(run, quiet, as_json, lambda observers: continue_run(run, settings, observers, review))
    return finish(ended, as_json, reader)


def watched(folder: Path, quiet: bool, as_json: bool, drive: Callable[[list[Observer]], Ended]) -> Ended:
    """Drive a run with a live view on standard error (none with --quiet or --json)."""
    from turngate.cli.live import Live

    if quiet or as_json:
        return drive([])
    with Live(folder) as live:
        return drive([live])


def finish(ended: Ended, as_json: bool, reader: str | None = None) -> int:
    """Write the report, print the summary, and return the exit code."""
    from turngate.cli.errors import code_for
    from turngate.cli.report import write_page
    from turngate.cli.show import print_summary
    from turngate.traces.analysis.run import RunView, summarise

    report: Path | None = ended.folder / "report.html"
    if ended.worked:
        report = write_page(ended.folder, reader)
    elif not (ended.folder / "report.html").exists():
        try:
            report = write_page(ended.folder, reader)
        except MachineError:  # a finished run may lie where nothing can be written
            report = None
    summary = summarise(RunView.load(ended.folder))
    print_summary(summary, report, as_json, worked=ended.worked)
    return code_for(ended.status, ended.reason)


# `turngate fork`.


@click.command("fork")
@click.argument("run", type=PlacePath("run", "run.json"))
@click.option("--turn", type=int, help="Copy turns 1..TURN of RUN, 0 only the origin; by default all closed turns.")
@set_option
@click.option("--no-run", is_flag=True, help="Only create the child; `turngate resume` runs it later.")
@out_option("Folder of the child run; default beside the parent.")
@reader_option
@quiet_option
@json_option
def fork_command(
    run: Path,
    turn: int | None,
    overrides: tuple[str, ...],
    no_run: bool,
    out: Path | None,
    reader: str | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Start a child of RUN that shares its first turns, with another gate, editor or seed. The parent is only read."""
    from turngate.cli.report import summary_reader
    from turngate.graphs.runner import Ended, changed_config, continue_run, fork_run

    settings = changed_config(run, overrides)
    summary_reader(reader, settings.reader)
    child = fork_run(run, turn, out, settings)
    if no_run:
        return finish(Ended(child, "complete", None, worked=True), as_json, reader)
    ended = watched(child, quiet, as_json, lambda observers: continue_run(child, settings, observers))
    return finish(ended, as_json, reader)


# `turngate new`.


@click.command("new")
@click.argument("path", type=click.Path(path_type=Path), default=Path("turngate.yaml"))
@click.option("--image", default="skimage:astronaut", help="The origin: a file, or skimage:NAME.")
@json_option
def new_command(path: Path, image: str, as_json: bool) -> int:
    """Write a commented configuration to PATH (default turngate.yaml); never overwrites."""
    from turngate.errors import MachineError, UserError

    template = files("turngate.cli").joinpath("template.yaml").read_text(encoding="utf-8")
    quoted = (
        "'" + image.replace("'", "''") + "'"
        if not image.isascii() or any(c in image for c in " #'\"{}[],&*")
        else image
    )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template.replace("skimage:astronaut", quoted, 1))
    except FileExistsError:
        raise UserError(f"{path} exists already: give another name") from None
    except OSError as error:
        raise MachineError(f"cannot write {path}: {error.strerror or error}") from error
    if as_json:
        print(json.dumps({"configuration": str(path)}, ensure_ascii=False))
    else:
        click.echo(f"{path} written; run it with: turngate run {shlex.quote(str(path))}")
    return 0
