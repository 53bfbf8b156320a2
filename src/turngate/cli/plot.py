"""`turngate plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turngate.cli._options import json_option

__all__ = ["plot_command"]


@click.command("plot")
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for the figures.")
@click.option("--format", "kind", type=click.Choice(["svg", "png", "pdf"]), default="svg", show_default=True)
@json_option
def plot_command(study: Path, out: Path, kind: Any, as_json: bool) -> int:
    """Write the main figures of the study in folder STUDY for print."""
    import json

    from turngate.traces.analysis.study_answer import answer_study
    from turngate.traces.analysis.study_view import StudyView
    from turngate.traces.plots.write import write_plots

    view = StudyView.load(study)
    written = write_plots(view, answer_study(view), out, kind)
    if as_json:
        print(json.dumps({"figures": [str(path) for path in written]}))
        return 0
    for path in written:
        click.echo(path)
    if not written:
        click.echo("nothing to draw: no truth was measured and no evaluator was asked", err=True)
    return 0
