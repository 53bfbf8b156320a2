"""`turngate fork`."""

from __future__ import annotations

from pathlib import Path

import click

from turngate.cli._options import json_option, out_option, quiet_option, reader_option, set_option

__all__ = ["fork_command"]


@click.command("fork")
@click.argument("run", type=click.Path(path_type=Path))
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
    from turngate.cli.run import finish, watched
    from turngate.graphs.runner import Ended, changed_config, continue_run, fork_run

    settings = changed_config(run, overrides)
    summary_reader(reader, settings.reader)
    child = fork_run(run, turn, out, settings)
    if no_run:
        return finish(Ended(child, "complete", None, worked=True), as_json, reader)
    ended = watched(child, quiet, as_json, lambda observers: continue_run(child, settings, observers))
    return finish(ended, as_json, reader)
