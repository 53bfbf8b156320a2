"""All figures of a study, written to a folder."""

from __future__ import annotations

from pathlib import Path

from turngate.errors import UserError
from turngate.traces.analysis.study_answer import StudyAnswer
from turngate.traces.analysis.study_view import StudyView
from turngate.traces.plots._style import PlotFormat, save, style
from turngate.traces.plots.arm_figures import cost_figure, delay_figure, survival_figure, truth_figure
from turngate.traces.plots.evaluator_figures import delta_figure, roc_figure
from turngate.traces.report.arms import arms_of
from turngate.traces.report.judges import judges_of
from turngate.traces.report.study_runs import load_runs

__all__ = ["write_plots"]


def write_plots(study: StudyView, answer: StudyAnswer, folder: Path, kind: PlotFormat) -> list[Path]:
    """Write every figure that the study has data for as `folder`/NAME.`kind` and return the paths.

    The same study gives the same bytes with the same matplotlib. Raises `MissingExtra` without matplotlib,
    `UserError` when no run was begun, `DamagedRun` when one cannot be read, `MachineError` when a file cannot be
    written.
    """
    with style():
        runs = load_runs(study)
        if not runs:
            raise UserError(f"the study in {study.folder} has no run yet: `turngate study FILE` makes them")
        arms, judges = arms_of(answer, runs), judges_of(answer.evaluators)
        figures = {
            "truth": truth_figure(arms),
            "survival": survival_figure(arms),
            "delay": delay_figure(arms),
            "cost": cost_figure(arms),
            "roc": roc_figure(judges),
            "deltas": delta_figure(judges),
        }
        written = []
        for name, figure in figures.items():
            if figure is not None:
                save(figure, folder / f"{name}.{kind}", kind)
                written.append(folder / f"{name}.{kind}")
    return written
