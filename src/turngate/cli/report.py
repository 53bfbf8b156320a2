"""`turngate report` and `plot`, and the page that other commands write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turngate.cli.options import json_option, out_option, reader_option
from turngate.cli.places import PlacePath, place_of
from turngate.errors import UserError

if TYPE_CHECKING:
    from turngate.agent.reasoning import SummaryReader

__all__ = ["plot_command", "summary_reader", "write_page"]


@click.command("report")
@click.argument("run", type=PlacePath("run", "run.json", "study"))
@out_option("File to write; default report.html or index.html where the record lies. It shows images from there.")
@reader_option
@json_option
def report_command(run: Path, out: Path | None, reader: str | None, as_json: bool) -> int:
    """Write RUN's report.html, or a study's index.html, again from ledgers and images."""
    if out is not None and out.is_dir():
        raise UserError(f"--out {out} is a folder: give the file to write, {out / 'report.html'}")
    page = write_page(run, reader, out)
    click.echo(json.dumps({"page": str(page)}, ensure_ascii=False) if as_json else page)
    return 0


# Pages with the claims of reasoning summaries marked: what `run`, `report`, `study` and `view` write.


def write_page(folder: Path, reader: str | None = None, out: Path | None = None) -> Path:
    """Write the report of the run, or the page of the study, in `folder`, or to `out`; returns its path.

    Summaries are read by `reader` (as `--reader` takes it), or as the run or study was configured.
    """
    from turngate.pages.report.run import write_run_report
    from turngate.pages.report.study import write_study_page
    from turngate.traces.analysis.study import StudyView, answer_study, load_study
    from turngate.traces.run_folder import RunFolder

    if place_of(folder) == "study":
        loaded = load_study(StudyView.load(folder))
        for run in loaded.runs:
            _look_for_modules(run.view.info.config)
        read = summary_reader(reader, loaded.study.config.get("reader"))
        return write_study_page(loaded, answer_study(loaded, read), out)
    config = RunFolder.existing(folder).info().config
    _look_for_modules(config)
    return write_run_report(folder, summary_reader(reader, config.get("reader")), out)


def _look_for_modules(config: Mapping[str, Any]) -> None:
    """A reader of the user's own may be in a file beside the configuration that the run was started with."""
    from turngate.registry import look_beside

    folder = config.get("modules")
    if isinstance(folder, str):
        look_beside(Path(folder))


def summary_reader(given: str | None, configured: Any = None) -> SummaryReader:
    """The reader that `--reader` gives, otherwise the one of a configuration, otherwise the lexicon.

    It is built once per process. Raises `ConfigError` for a reader that is not known or a wrong setting, `MissingExtra`
    or `MissingWeights` for what is not here.
    """
    from turngate.agent.reasoning import READERS
    from turngate.yaml_text import parse_yaml

    if given is None:
        config = READERS.configure(configured or "lexicon", "reader")
    else:
        config = READERS.configure(parse_yaml(given, f"--reader {given}"), "--reader")
    return _built(json.dumps(config.model_dump(mode="json")))


@cache
def _built(config: str) -> SummaryReader:
    from turngate.agent.reasoning import READERS

    return READERS.build(READERS.configure(json.loads(config), "reader"))


# `turngate plot`.


@click.command("plot")
@click.argument("study", type=PlacePath("study"))
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
        answer: dict[str, Any] = {name: [str(path) for path in paths] for name, paths in named.items()}
        answer["left_out"] = [{"plot": one.name, "reason": one.reason} for one in written.left_out]
        print(json.dumps(answer))
        return 0
    for path in (*written.figures, *written.tables, *captions):
        click.echo(path)
    for one in written.left_out:
        click.echo(f"no {one.name}: {one.reason}", err=True)
    return 0
