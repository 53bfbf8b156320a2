"""`turngate report`, and the page that other commands write."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["write_page"]


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
def report_command(run: Path) -> int:
    """Write RUN's report.html, or a study's index.html, again from ledgers and images."""
    click.echo(write_page(run))
    return 0


# Pages with the claims of reasoning summaries marked: what `run`, `report`, `study` and `view` write.


def write_page(folder: Path) -> Path:
    """Write the report of the run, or the page of the study, in `folder`; returns its path."""
    from turngate.agent.reasoning import READERS
    from turngate.pages.report.run import write_run_report
    from turngate.pages.report.study import write_study_page
    from turngate.traces.analysis.study import StudyView, answer_study, load_study

    reader = READERS.build(READERS.configure("lexicon", "reader"))
    if (folder / "study.json").is_file():
        loaded = load_study(StudyView.load(folder))
        return write_study_page(loaded, answer_study(loaded, reader))
    return write_run_report(folder, reader)
