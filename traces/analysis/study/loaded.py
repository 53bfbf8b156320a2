"""The runs of a study as pages and plots need them, and their curves over turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from turngate.component import Direction
from turngate.traces.analysis.labels import Labels, with_labels
from turngate.traces.analysis.run import (
    EvaluatorKey,
    RescoredScores,
    RunMeasures,
    RunSummary,
    RunView,
    Standing,
    gate_line,
    measure_run,
    read_rescored,
    rescored_names,
    standings,
    truth_direction,
    with_rescored,
)
from turngate.traces.analysis.statistics import bootstrap_ratio
from turngate.traces.analysis.study.study_view import StudyRun, StudyView
from turngate.traces.images import ImageStore

__all__ = ["Curve", "LoadedRun", "LoadedStudy", "by_arm", "by_origin", "load_study", "score_curve", "truth_curve"]


_ENDED = {"complete", "stopped", "attempts_exhausted", "budget_exhausted"}


@dataclass(frozen=True)
class LoadedRun:
    """One run of a study, read once: the answer, the page and the plots take from it what they need."""

    run: StudyRun
    view: RunView
    """Everything recorded about it; with labels, people's verdicts are in the place of the recorded truth."""

    @cached_property
    def numbers(self) -> RunMeasures:
        """What the study adds up."""
        return measure_run(self.view)

    @property
    def summary(self) -> RunSummary:
        """The run in numbers."""
        return self.numbers.summary

    @cached_property
    def stands(self) -> list[Standing]:
        """The current image after each turn, from turn 0 on."""
        return standings(self.view)

    @property
    def gate(self) -> str:
        """The gate in one line."""
        return gate_line(self.view)

    @property
    def evaluators(self) -> list[str]:
        """Names of its evaluators."""
        return list(self.view.config.evaluators)

    @property
    def truth_direction(self) -> Direction:
        """Which way its truth is better."""
        return truth_direction(self.view)

    @property
    def images(self) -> ImageStore:
        """Its images."""
        return self.view.folder.images

    @property
    def ended(self) -> bool:
        """No more turns will come: its last image is the one that it ends with."""
        return self.summary.status in _ENDED

    @cached_property
    def rescored(self) -> RescoredScores:
        """What was scored after the run."""
        return read_rescored(self.view)


@dataclass(frozen=True)
class LoadedStudy:
    """A study with its runs. Each ledger is read once, whatever is made of it."""

    study: StudyView
    runs: list[LoadedRun]
    """Every run that was begun, in the order of the plan."""
    labels: Labels | None = None
    """People's verdicts that stand in the place of the recorded truth."""

    @cached_property
    def rescored_names(self) -> dict[EvaluatorKey, str]:
        """Evaluator that scored runs of the study after them -> its name."""
        return rescored_names(one for run in self.runs for one in run.rescored.evaluators)

    @cached_property
    def rescored_runs(self) -> list[LoadedRun]:
        """The runs with the scores that were made after them in the place of their own; empty when there are none."""
        names = self.rescored_names
        return [
            replace(run, view=with_rescored(run.view, run.rescored.evaluators, names)) for run in self.runs if names
        ]


def load_study(study: StudyView, labels: Labels | None = None) -> LoadedStudy:
    """Read every run that was begun; raises `DamagedRun` when one cannot be read."""
    views = ((run, run.load()) for run in study.begun())
    runs = [LoadedRun(run, view if labels is None else with_labels(view, labels)) for run, view in views]
    return LoadedStudy(study, runs, labels)


def by_origin(runs: Iterable[LoadedRun]) -> dict[str, list[RunMeasures]]:
    """Origin -> numbers of its runs: the groups of every bootstrap."""
    groups: dict[str, list[RunMeasures]] = defaultdict(list)
    for one in runs:
        groups[one.run.origin].append(one.numbers)
    return groups


def by_arm(runs: Iterable[LoadedRun]) -> dict[str, list[LoadedRun]]:
    """Arm -> its runs, in order."""
    arms: dict[str, list[LoadedRun]] = defaultdict(list)
    for one in runs:
        arms[one.run.arm].append(one)
    return arms


_DRAWS = 500


@dataclass(frozen=True)
class Curve:
    """Mean over the runs of an arm, with its interval over origins."""

    turns: list[int]
    """From 0, the origin."""
    values: list[float | None]
    """None where no run has a value."""
    low: list[float | None]
    """Lower end of the 95 % interval (bootstrap over origins); None with a single origin."""
    high: list[float | None]
    missing: list[int]
    """Turns at which a run has no value; the mean is then that of the others."""


def truth_curve(runs: Sequence[LoadedRun]) -> Curve:
    """Truth of the current image after each turn, in the measure's unit."""
    return _curve(runs, lambda stand: stand.truth.value if stand.truth is not None else None)


def score_curve(runs: Sequence[LoadedRun], evaluator: str) -> Curve:
    """Score of the current image after each turn, over the runs that have the evaluator."""

    def value(stand: Standing) -> float | None:
        score = stand.scores.get(evaluator)
        return score.value if score is not None and score.status == "scored" else None

    return _curve([run for run in runs if evaluator in run.evaluators], value)


def _curve(runs: Sequence[LoadedRun], value: Callable[[Standing], float | None]) -> Curve:
    last = max(run.stands[-1].turn for run in runs)
    groups: list[dict[str, list[float]]] = [defaultdict(list) for _ in range(last + 1)]
    missing = set()
    for run in runs:
        known = [(stand.turn, value(stand)) for stand in run.stands]
        if run.ended:  # its image stays what it is; leaving it out would change who is averaged
            known += [(turn, known[-1][1]) for turn in range(known[-1][0] + 1, last + 1)]
        for turn, number in known:
            if number is None:
                missing.add(turn)
            else:
                groups[turn][run.run.origin].append(number)
    found = [bootstrap_ratio(group, lambda number: number, draws=_DRAWS) for group in groups]
    return Curve(
        turns=list(range(last + 1)),
        values=[one.value for one in found],
        low=[one.low for one in found],
        high=[one.high for one in found],
        missing=sorted(missing),
    )
