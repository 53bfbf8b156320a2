"""`turngate show`."""

from __future__ import annotations

from pathlib import Path

import click

from turngate.cli._options import json_option

__all__ = ["show_command"]


@click.command("show")
@click.argument("run", type=click.Path(path_type=Path))
@json_option
def show_command(run: Path, as_json: bool) -> int:
    """Show RUN in numbers, from its ledger; works while it is running."""
    from turngate.cli._summary import print_summary
    from turngate.traces.analysis.run.run_view import RunView
    from turngate.traces.analysis.run.summary import summarise

    view = RunView.load(run)
    report = view.folder.report_file if view.folder.report_file.exists() else None
    print_summary(summarise(view), report, as_json)
    return 0
