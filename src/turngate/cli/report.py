"""`turngate report`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["report_command"]


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
def report_command(run: Path) -> int:
    """Write RUN's report.html, or a study's index.html, again from ledgers and images."""
    from turngate.cli._reports import write_page

    click.echo(write_page(run))
    return 0
