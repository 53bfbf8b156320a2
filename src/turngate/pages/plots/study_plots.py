"""All plots of a study."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path

from turngate.errors import UserError
from turngate.pages.plots._style import PlotFormat, file_name, name_of, saved, style
from turngate.pages.plots.curves import first_damage_plot, score_plot, truth_plots
from turngate.pages.plots.episodes_figure import episodes_plot
from turngate.pages.plots.evaluator_figures import auc_plot, roc_plot
from turngate.pages.plots.gap_figure import gap_plot
from turngate.pages.plots.plane_figure import equal_calls_plot, plane_plot
from turngate.pages.plots.plot import LeftOut, Plot, PlotData
from turngate.traces.analysis.study import LoadedStudy, StudyAnswer, seen_through

__all__ = ["StudyPlots", "Written", "check_folder", "study_plots", "write_plots"]


@dataclass(frozen=True)
class StudyPlots:
    """All plots of a study, as figures that can still be changed."""

    plots: list[Plot]
    left_out: list[LeftOut]
    """What the study has nothing to draw for, and why."""


def study_plots(loaded: LoadedStudy, answer: StudyAnswer) -> StudyPlots:
    """Every plot that the study has data for; those of further truths have the truth's name behind theirs.

    Raises `MissingExtra` without matplotlib, `UserError` when no run was begun.
    """
    with style():
        if not loaded.runs:
            raise UserError(f"the study in {loaded.study.folder} has no run yet: `turngate study FILE` makes them")
        missing = len(answer.missing)
        lead = PlotData.of(answer, loaded.runs, never_begun=missing)
        names = dict.fromkeys(name for run in loaded.runs for name in run.evaluators)
        found = [*_by_truth(lead), *(score_plot(lead, name) for name in names)]
        for other in answer.more_truths:
            runs = seen_through(loaded.runs, other.truth_name)
            found += _by_truth(PlotData.of(other, runs, f"-{file_name(other.truth_name)}", missing))
    plots = [one for one in found if isinstance(one, Plot)]
    return StudyPlots(_apart(plots), [one for one in found if isinstance(one, LeftOut)])


def _by_truth(data: PlotData) -> list[Plot | LeftOut]:
    return [
        plane_plot(data),
        equal_calls_plot(data),
        *truth_plots(data),
        first_damage_plot(data),
        episodes_plot(data),
        auc_plot(data),
        roc_plot(data),
        gap_plot(data),
    ]


def _apart(plots: list[Plot]) -> list[Plot]:
    """The same plots, each under a file name of its own: two evaluators can differ in letters that names lack."""
    taken: set[str] = set()
    found = []
    for plot in plots:
        name, number = plot.name, 2
        while name.casefold() in taken:
            name, number = f"{plot.name}_{number}", number + 1
        taken.add(name.casefold())
        found.append(replace(plot, name=name))
    return found


CAPTIONS = "captions.txt"
_NO_DATE = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}


@dataclass(frozen=True)
class Written:
    """Paths of what was written; no path when there was nothing to draw."""

    figures: list[Path]
    tables: list[Path]
    """The numbers of each plot, as CSV."""
    captions: Path | None
    left_out: list[LeftOut]
    """Plots that were not written, and why."""


def write_plots(loaded: LoadedStudy, answer: StudyAnswer, folder: Path, kind: PlotFormat) -> Written:
    """Write every plot that the study has data for: `NAME.kind`, `NAME.csv`, and `captions.txt` for all of them.

    The same study gives the same bytes with the same matplotlib. Raises `MissingExtra` without matplotlib,
    `UserError` when no run was begun or `folder` is a file, `MachineError` when a file cannot be written.
    """
    check_folder(folder)
    figures, tables, captions = [], [], []
    with style():
        drawn = study_plots(loaded, answer)
        for plot in drawn.plots:
            for stem, figure in zip(plot.stems(), plot.figures, strict=True):
                with saved(folder / f"{stem}.{kind}") as path:
                    figure.savefig(path, format=kind, metadata=_NO_DATE[kind])
                figures.append(folder / f"{stem}.{kind}")
            with saved(folder / f"{plot.name}.csv") as path:
                path.write_text(_csv(plot), encoding="utf-8")
            tables.append(folder / f"{plot.name}.csv")
            captions.append(f"{', '.join(plot.stems())}\n\n{plot.caption}\n")
    if not captions:
        return Written([], [], None, drawn.left_out)
    if answer.remarks:
        captions.append("\n".join(["Remarks on the study", "", *map(name_of, answer.remarks), ""]))
    with saved(folder / CAPTIONS) as path:
        path.write_text("\n".join(captions), encoding="utf-8")
    return Written(figures, tables, folder / CAPTIONS, drawn.left_out)


def check_folder(folder: Path) -> None:
    """Raise `UserError` when `folder` cannot become a folder because it, or what should hold it, is a file."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise UserError(f"{place} is a file, and figures go into a folder: choose another --out")


def _csv(plot: Plot) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(plot.columns)
    writer.writerows(plot.rows)
    return text.getvalue()
