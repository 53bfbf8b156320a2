"""`turngate report`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["report_command"]


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
def report_command(run: Path) -> int:
    """Write RUN's report.html again from its ledger and images."""
    from turngate.traces.report.run_report import write_run_report

    click.echo(write_run_report(run))
    return 0
