"""What pages and plots need of every run of a study, without the rest of its ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from turngate.pages.report.charts.figure import Direction
from turngate.pages.report.charts.run import truth_direction
from turngate.pages.report.run.settings import gate_line
from turngate.traces.analysis.labels.labels import Labels
from turngate.traces.analysis.labels_truth import with_labels
from turngate.traces.analysis.later_view import with_later
from turngate.traces.analysis.run.rescored import Key, read_later
from turngate.traces.analysis.run.summary import RunSummary, summarise
from turngate.traces.analysis.study.study_view import StudyRun, StudyView
from turngate.traces.images import ImageStore
from turngate.traces.report._lineage import Standing, standings

__all__ = ["LoadedRun", "load_runs"]

_ENDED = {"complete", "stopped", "attempts_exhausted", "budget_exhausted"}


@dataclass(frozen=True)
class LoadedRun:
    """One run of a study."""

    run: StudyRun
    summary: RunSummary
    gate: str
    """The gate in one line."""
    evaluators: list[str]
    stands: list[Standing]
    """The current image after each turn, from turn 0 on."""
    truth_direction: Direction
    images: ImageStore
    later: list[str]
    """Evaluators that scored it afterwards."""
    later_stands: list[Standing]
    """`stands` with their scores."""

    def afterwards(self) -> LoadedRun:
        """The run as those evaluators see it that scored it afterwards."""
        return replace(self, evaluators=self.later, stands=self.later_stands)

    @property
    def ended(self) -> bool:
        """No more turns will come: its last image is the one that it ends with."""
        return self.summary.status in _ENDED


def load_runs(
    study: StudyView, labels: Labels | None = None, later: Mapping[Key, str] | None = None
) -> list[LoadedRun]:
    """Every run that was begun, in the order of the plan; raises `DamagedRun` when one cannot be read.

    With `labels` people's verdicts stand in the place of the recorded truth. `later` names the evaluators that scored
    runs afterwards and are wanted.
    """
    return [_load(run, labels, later or {}) for run in study.begun()]


def _load(run: StudyRun, labels: Labels | None, later: Mapping[Key, str]) -> LoadedRun:
    view = run.load() if labels is None else with_labels(run.load(), labels)
    found = [one for one in read_later(view).evaluators if one.key in later] if later else []
    return LoadedRun(
        run=run,
        summary=summarise(view),
        gate=gate_line(view),
        evaluators=list(view.info.config["evaluators"]),
        stands=standings(view),
        truth_direction=truth_direction(view),
        images=view.folder.images,
        later=[later[one.key] for one in found],
        later_stands=standings(with_later(view, found, later)) if found else [],
    )
