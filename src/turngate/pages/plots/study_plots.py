"""All plots of a study."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from turngate.errors import UserError
from turngate.pages.plots._style import PlotFormat, saved, style
from turngate.pages.plots.arm_lines import delay_plot, survival_plot, truth_plots
from turngate.pages.plots.cost_figure import cost_plot
from turngate.pages.plots.evaluator_figures import delta_plot, roc_plot
from turngate.pages.plots.plot import Plot
from turngate.pages.report.charts import arms_of, evaluator_series
from turngate.traces.analysis.study import LoadedStudy, StudyAnswer

__all__ = ["Written", "check_folder", "study_plots", "write_plots"]


def study_plots(loaded: LoadedStudy, answer: StudyAnswer) -> list[Plot]:
    """Every plot that the study has data for, as figures that can still be changed.

    Raises `MissingExtra` without matplotlib, `UserError` when no run was begun.
    """
    with style():
        runs = loaded.runs
        if not runs:
            raise UserError(f"the study in {loaded.study.folder} has no run yet: `turngate study FILE` makes them")
        arms, all_series, missing = arms_of(answer, runs), evaluator_series(answer.evaluators), len(answer.missing)
        looked_at = {one.arm for one in answer.evaluators}
        judged = [run for run in runs if run.run.arm in looked_at] or runs
        found = [
            *truth_plots(arms, missing),
            survival_plot(arms, missing),
            delay_plot(arms, missing),
            cost_plot(arms, missing),
            roc_plot(all_series, judged),
            delta_plot(all_series, judged),
        ]
        return [plot for plot in found if plot is not None]


CAPTIONS = "captions.txt"
_NO_DATE = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}


@dataclass(frozen=True)
class Written:
    """Paths of what was written; all empty when there was nothing to draw."""

    figures: list[Path]
    tables: list[Path]
    """The numbers of each plot, as CSV."""
    captions: Path | None


def write_plots(loaded: LoadedStudy, answer: StudyAnswer, folder: Path, kind: PlotFormat) -> Written:
    """Write every plot that the study has data for: `NAME.kind`, `NAME.csv`, and `captions.txt` for all of them.

    The same study gives the same bytes with the same matplotlib. Raises `MissingExtra` without matplotlib,
    `UserError` when no run was begun or `folder` is a file, `MachineError` when a file cannot be written.
    """
    check_folder(folder)
    figures, tables, captions = [], [], []
    with style():
        for plot in study_plots(loaded, answer):
            for stem, figure in zip(plot.stems(), plot.figures, strict=True):
                with saved(folder / f"{stem}.{kind}") as path:
                    figure.savefig(path, format=kind, metadata=_NO_DATE[kind])
                figures.append(folder / f"{stem}.{kind}")
            with saved(folder / f"{plot.name}.csv") as path:
                path.write_text(_csv(plot), encoding="utf-8")
            tables.append(folder / f"{plot.name}.csv")
            captions.append(f"{', '.join(plot.stems())}\n\n{plot.caption}\n")
    if not captions:
        return Written([], [], None)
    with saved(folder / CAPTIONS) as path:
        path.write_text("\n".join(captions), encoding="utf-8")
    return Written(figures, tables, folder / CAPTIONS)


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
