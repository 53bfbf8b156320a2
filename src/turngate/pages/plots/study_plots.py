"""All plots of a study."""

from __future__ import annotations

from turngate.errors import UserError
from turngate.pages.plots._style import style
from turngate.pages.plots.cost_figure import cost_plot
from turngate.pages.plots.delta_figure import delta_plot
from turngate.pages.plots.plot import Plot
from turngate.pages.plots.roc_figure import roc_plot
from turngate.pages.report.study.arms import arms_of
from turngate.traces.analysis.study.answer import StudyAnswer
from turngate.traces.analysis.study.loaded import load_runs
from turngate.traces.analysis.study.study_view import StudyView
from turngate.traces.plots.step_figures import delay_plot, survival_plot
from turngate.traces.plots.truth_figure import truth_plots
from turngate.traces.report.judges import judges_of

__all__ = ["study_plots"]


def study_plots(study: StudyView, answer: StudyAnswer) -> list[Plot]:
    """Every plot that the study has data for, as figures that can still be changed.

    Raises `MissingExtra` without matplotlib, `UserError` when no run was begun, `DamagedRun` when one cannot be read.
    """
    with style():
        runs = load_runs(study)
        if not runs:
            raise UserError(f"the study in {study.folder} has no run yet: `turngate study FILE` makes them")
        arms, judges, missing = arms_of(answer, runs), judges_of(answer.evaluators), len(answer.missing)
        looked_at = {one.arm for one in answer.evaluators}
        judged = [run for run in runs if run.run.arm in looked_at] or runs
        found = [
            *truth_plots(arms, missing),
            survival_plot(arms, missing),
            delay_plot(arms, missing),
            cost_plot(arms, missing),
            roc_plot(judges, judged),
            delta_plot(judges, judged),
        ]
        return [plot for plot in found if plot is not None]
