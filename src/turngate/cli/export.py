"""`turngate export`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from turngate.cli._options import out_option

__all__ = ["export_command"]


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "kind", type=click.Choice(["jsonl", "csv", "parquet"]), default="jsonl", show_default=True)
@click.option("--otlp", "endpoint", metavar="URL", help="Send the run's spans to an OTLP/HTTP endpoint instead.")
@out_option("File to write; default standard output (Parquet: RUN/attempts.parquet).")
def export_command(run: Path, kind: str, endpoint: str | None, out: Path | None) -> int:
    """Export RUN, one row per attempt, or send it to a trace backend."""
    from turngate.errors import MachineError
    from turngate.traces.analysis.run import RunView
    from turngate.traces.exports.jsonl import write_jsonl
    from turngate.traces.exports.table import write_csv, write_parquet

    if endpoint is not None:
        from turngate.traces.telemetry import export_run

        click.echo(f"{export_run(run, endpoint)} spans sent", err=True)
        return 0
    view = RunView.load(run)
    write = write_jsonl if kind == "jsonl" else write_csv
    try:
        if kind == "parquet":
            target = out or view.folder.path / "attempts.parquet"
            count = write_parquet(view, target)
        elif out is None:
            write(view, sys.stdout)
            return 0
        else:
            target = out
            with out.open("w", encoding="utf-8", newline="") as file:
                count = write(view, file)
    except OSError as error:
        raise MachineError(f"cannot write {out or run}: {error.strerror or error}") from error
    click.echo(f"{count} attempts written to {target}", err=True)
    return 0
