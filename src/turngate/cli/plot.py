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
    """Write the figures of the study in folder STUDY for print, their numbers as CSV, and captions."""
    import json

    from turngate.pages.plots import check_folder, write_plots
    from turngate.traces.analysis.study import StudyView, answer_study, load_study

    view = StudyView.load(study)
    check_folder(out)
    loaded = load_study(view)
    written = write_plots(loaded, answer_study(loaded), out, kind)
    captions = [] if written.captions is None else [written.captions]
    if as_json:
        named = {"figures": written.figures, "tables": written.tables, "captions": captions}
        print(json.dumps({name: [str(path) for path in paths] for name, paths in named.items()}))
        return 0
    for path in (*written.figures, *written.tables, *captions):
        click.echo(path)
    if not written.figures:
        click.echo("nothing to draw: no truth was measured and no evaluator was asked", err=True)
    return 0
