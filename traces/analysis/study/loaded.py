"""The runs of a study as pages and plots need them, and their curves over turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from statistics import median

from turngate.component import Direction
from turngate.errors import DamagedRun
from turngate.traces.analysis.labels import Labels, read_labels, with_labels
from turngate.traces.analysis.run import (
    EvaluatorKey,
    RescoredScores,
    RunAnswer,
    RunSummary,
    RunView,
    Standing,
    TurnResult,
    gate_line,
    origin_identity,
    read_rescored,
    rescored_names,
    seen_by,
    standings,
    stretch_of,
    summarise,
    truth_direction,
    turn_results,
    with_rescored,
)
from turngate.traces.analysis.study.study_view import StudyRun, StudyView
from turngate.traces.images import ImageStore

__all__ = [
    "Curve",
    "LoadedRun",
    "LoadedStudy",
    "by_arm",
    "load_study",
    "score_curve",
    "seen_through",
    "thresholds_of",
    "truth_curve",
]


@dataclass(frozen=True)
class LoadedRun:
    """One run of a study, read once: the answer, the page and the plots take from it what they need."""

    run: StudyRun
    view: RunView
    """Everything recorded about it; with labels, people's verdicts are the leading truth."""
    picture: str
    """Pixel identity of its origin."""
    cluster: str
    """Its origin, by pixels: the first name that the study has for the picture. What intervals and p count."""

    @cached_property
    def summary(self) -> RunSummary:
        """The run in numbers."""
        return summarise(self.view)

    @property
    def answer(self) -> RunAnswer:
        """What its gate did."""
        return self.summary.answer

    @cached_property
    def turns(self) -> list[TurnResult]:
        """What each planned turn came to."""
        return turn_results(stretch_of(self.view))

    @cached_property
    def stands(self) -> list[Standing]:
        """The current image after each turn, from turn 0 on."""
        return standings(self.view)

    @property
    def gate(self) -> str:
        """The gate in one line."""
        return gate_line(self.view)

    @property
    def gated(self) -> bool:
        """Its gate can refuse: false only of `always_accept`."""
        return self.view.config.gate.type != "always_accept"

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
        """No more turns will come by themselves: its last image stands to its last planned turn, as in the answer."""
        return not self.answer.going_on

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
    """People's verdicts that lead the recorded truths."""

    @cached_property
    def truths(self) -> list[str]:
        """Names of the truths of the runs, the leading one first."""
        return list(dict.fromkeys(name for run in self.runs for name in run.view.truths))

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

    @cached_property
    def same_pictures(self) -> list[list[str]]:
        """Names of origins that are one picture, pixel for pixel; only where it has more than one name."""
        names: dict[str, list[str]] = defaultdict(list)
        for run in self.runs:
            if run.run.origin not in names[run.cluster]:
                names[run.cluster].append(run.run.origin)
        return [found for found in names.values() if len(found) > 1]


def load_study(study: StudyView, labels: Labels | None = None) -> LoadedStudy:
    """Read every run that was begun; raises `DamagedRun` when one cannot be read.

    Without `labels` those that the study names lead the truths; raises `UserError` when they cannot be read.
    """
    if labels is None and study.labels is not None:
        labels = read_labels(study.labels)
    views = [(run, run.load()) for run in study.begun()]
    names: dict[str, str] = {}
    runs = []
    for run, view in views:
        picture = _identity(view)
        cluster = names.setdefault(picture, _free(run.origin or "origin", names.values()))
        runs.append(LoadedRun(run, view if labels is None else with_labels(view, labels), picture, cluster))
    return LoadedStudy(study, runs, labels)


def _free(name: str, taken: Collection[str]) -> str:
    """`name`, or with a number: a picture that was replaced under its name is another origin."""
    numbered = (f"{name} ({number})" for number in count(2))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def _identity(view: RunView) -> str:
    try:
        return origin_identity(view)
    except DamagedRun:  # the image is gone: its bytes still have a name
        return view.info.origin.image


def seen_through(runs: Iterable[LoadedRun], truth: str) -> list[LoadedRun]:
    """The runs that have that truth, with it in the leading place."""
    return [replace(run, view=seen_by(run.view, truth)) for run in runs if truth in run.view.truths]


def by_arm(runs: Iterable[LoadedRun]) -> dict[str, list[LoadedRun]]:
    """Arm -> its runs, in order."""
    arms: dict[str, list[LoadedRun]] = defaultdict(list)
    for one in runs:
        arms[one.run.arm].append(one)
    return arms


def thresholds_of(runs: Sequence[LoadedRun]) -> list[float]:
    """Thresholds of damaged that were in force."""
    return sorted({stand.truth.damaged_at for run in runs for stand in run.stands if stand.truth is not None})


@dataclass(frozen=True)
class Curve:
    """Median over the runs of an arm, with its lowest and highest run."""

    turns: list[int]
    """From 0, the origin."""
    values: list[float | None]
    """None where no run has a value."""
    low: list[float | None]
    """Lowest run; None with a single run."""
    high: list[float | None]
    """Highest run; None with a single run."""
    untouched: list[int]
    """Runs whose standing image is untouched at each turn: they are left out, for their value ends the scale."""
    missing: list[int]
    """Turns at which a run has no value for another reason; the median is then that of the others."""


def truth_curve(runs: Sequence[LoadedRun]) -> Curve:
    """Truth of the standing image after each turn, in the measure's unit."""
    return _curve(runs, lambda stand: stand.truth.value if stand.truth is not None else None)


def score_curve(runs: Sequence[LoadedRun], evaluator: str) -> Curve:
    """Score of the standing image after each turn, over the runs that have the evaluator."""

    def value(stand: Standing) -> float | None:
        score = stand.scores.get(evaluator)
        return score.value if score is not None and score.status == "scored" else None

    def untouched(stand: Standing) -> bool:
        score = stand.scores.get(evaluator)
        return score is not None and score.untouched

    return _curve([run for run in runs if evaluator in run.evaluators], value, untouched)


def _curve(
    runs: Sequence[LoadedRun],
    value: Callable[[Standing], float | None],
    untouched: Callable[[Standing], bool] = lambda stand: stand.untouched,
) -> Curve:
    # A run that ended keeps its last image to its horizon; one that is at work has no more turns yet.
    ends = [run.view.config.turns if run.ended else run.stands[-1].turn for run in runs]
    last = max([*ends, *(run.stands[-1].turn for run in runs)])
    found: list[list[float]] = [[] for _ in range(last + 1)]
    left_out = [0] * (last + 1)
    missing = set()
    for run, end in zip(runs, ends, strict=True):
        stands = [*run.stands, *[run.stands[-1]] * (end - run.stands[-1].turn)]
        for turn, stand in enumerate(stands):
            number = value(stand)
            if untouched(stand):
                left_out[turn] += 1
            elif number is None:
                missing.add(turn)
            else:
                found[turn].append(number)
    several = len(runs) > 1
    return Curve(
        turns=list(range(last + 1)),
        values=[median(numbers) if numbers else None for numbers in found],
        low=[min(numbers) if several and numbers else None for numbers in found],
        high=[max(numbers) if several and numbers else None for numbers in found],
        untouched=left_out,
        missing=sorted(missing),
    )
