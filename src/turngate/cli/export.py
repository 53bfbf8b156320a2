"""The record for other programs: `turngate export`, `schema` and `validate`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turngate.cli.columns import Visible
from turngate.cli.options import json_option, out_option
from turngate.cli.places import PlacePath, check_place
from turngate.whole_file import whole_file

if TYPE_CHECKING:
    from turngate.traces.exports import TableName

__all__ = []


@click.command("export")
@click.argument("run", type=PlacePath("run", "run.json", "study", "runs"))
@click.option("--format", "kind", type=click.Choice(["jsonl", "csv", "parquet"]), default="jsonl", show_default=True)
@click.option("--table", type=click.Choice(["attempts", "turns", "episodes"]), default="attempts", show_default=True,
              help="Attempts as recorded, results per turn, or damage episodes.")  # fmt: skip
@click.option("--otlp", "endpoint", metavar="URL", help="Send the run's spans to an OTLP/HTTP endpoint instead.")
@click.option("--as", "pattern", metavar="PATTERN",
              help="Write the frames instead, to 'out/{origin}/{setting}/rep{repeat}/step_{turn}.png'.")  # fmt: skip
@out_option("File to write; default standard output (Parquet: RUN/TABLE.parquet).")
@json_option
def export_command(
    run: Path,
    kind: str,
    table: TableName,
    endpoint: str | None,
    pattern: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Export RUN, one row per attempt, turn or episode, or send it to a trace backend.

    With --as RUN may be a study or a folder of runs as well; origin and standing image of every turn are written.
    """
    from turngate.errors import MachineError, UserError, counted
    from turngate.traces.analysis.run import RunView
    from turngate.traces.exports import row_objects, write_csv, write_jsonl, write_parquet

    if endpoint is not None:
        from turngate.traces.telemetry import export_run

        sent = export_run(run, endpoint)
        _told(f"{counted(sent, 'span')} sent", {"spans": sent, "to": endpoint}, as_json)
        return 0
    if pattern is not None:
        return _write_frames(run, pattern, as_json)
    check_place(run, "export", "run", "run.json")
    if as_json and out is None and kind == "csv":
        raise UserError("--json with --format csv: say with --out where the CSV goes, or leave --format out")
    view = RunView.load(run)
    write = write_jsonl if kind == "jsonl" else write_csv
    try:
        if kind == "parquet":
            target = out or view.folder.path / f"{table}.parquet"
            with whole_file(target) as part:
                count = write_parquet(view, part, table)
        elif out is None and as_json:
            print(json.dumps({"run": str(run), "table": table, "rows": [*row_objects(view, table)]}))
            return 0
        elif out is None:
            # A terminal would obey what a model wrote; whatever else reads it gets the text as it is recorded.
            write(view, Visible(sys.stdout) if sys.stdout.isatty() else sys.stdout, table)
            return 0
        else:
            target = out
            with whole_file(out) as part, part.open("w", encoding="utf-8", newline="") as file:
                count = write(view, file, table)
    except BrokenPipeError:  # the reader has seen enough
        raise
    except OSError as error:
        raise MachineError(f"cannot write {out or run}: {error.strerror or error}") from error
    written = f"{counted(count, table.removesuffix('s'))} written to {target}"
    _told(written, {"run": str(run), "table": table, "count": count, "file": str(target)}, as_json)
    return 0


def _told(words: str, facts: dict[str, Any], as_json: bool) -> None:
    """What was written or sent: a line on standard error, or one object."""
    if as_json:
        print(json.dumps(facts, ensure_ascii=False))
    else:
        click.echo(words, err=True)


def _write_frames(run: Path, pattern: str, as_json: bool) -> int:
    from turngate.errors import counted
    from turngate.importing import write_frames

    written = write_frames(run, pattern)
    for line in written.left_out:
        click.echo(f"note: {line}", err=True)
    frames, runs = counted(written.frames, "frame"), counted(written.runs, "run")
    facts = {"frames": written.frames, "runs": written.runs, "left_out": list(written.left_out)}
    _told(f"{frames} of {runs} written", facts, as_json)
    return 0


# `turngate schema`.


@click.command("schema")
@json_option
def schema_command(as_json: bool) -> int:
    """Print the JSON Schema of everything that turngate reads and writes, with units and meanings."""
    from turngate.graphs.config import RunConfig
    from turngate.traces.analysis.run import DamageEpisode, RunSummary, TurnResult
    from turngate.traces.records import SCHEMA_VERSION, TABLES
    from turngate.traces.run_folder import RunInfo

    schema = {
        "schema_version": SCHEMA_VERSION,
        "config": RunConfig.model_json_schema(),
        "run.json": RunInfo.model_json_schema(),
        "ledger": {table: model.model_json_schema() for table, (model, _) in TABLES.items()},
        "turns": TurnResult.model_json_schema(),
        "episodes": DamageEpisode.model_json_schema(),
        "summary": RunSummary.model_json_schema(),
    }
    click.echo(json.dumps(schema, indent=None if as_json else 2))
    return 0


# `turngate validate`.


@click.command("validate")
@click.argument("run", type=PlacePath("run", "run.json"))
@json_option
def validate_command(run: Path, as_json: bool) -> int:
    """Check that RUN holds what its ledger says: rows, chain of images, files and their hashes."""
    from turngate.errors import counted
    from turngate.graphs.validate import validate

    found = validate(run)
    if as_json:
        print(json.dumps({"run": str(run), "valid": not found.problems, **found.as_dict()}, ensure_ascii=False))
    else:
        for problem in found.problems:
            click.echo(f"wrong: {problem}")
        for remark in found.remarks:
            click.echo(f"note: {remark}")
        sizes = f"{counted(found.attempts, 'attempt')}, {counted(found.images, 'image')}"
        click.echo(f"{sizes}: {'valid' if not found.problems else 'not valid'}")
    return 1 if found.problems else 0
