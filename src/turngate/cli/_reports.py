"""Pages with the claims of reasoning summaries marked: what `run`, `report`, `study` and `view` write."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_page"]


def write_page(folder: Path) -> Path:
    """Write the report of the run, or the page of the study, in `folder`; returns its path."""
    from turngate.agent.reasoning import READERS
    from turngate.pages.report.run.page import write_run_report
    from turngate.pages.report.study.page import write_study_page
    from turngate.traces.analysis.study.answer import answer_study
    from turngate.traces.analysis.study.study_view import StudyView

    reader = READERS.build(READERS.configure("lexicon", "reader"))
    if (folder / "study.json").is_file():
        study = StudyView.load(folder)
        return write_study_page(study, answer_study(study, reader))
    return write_run_report(folder, reader)
