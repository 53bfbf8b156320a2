"""The runs of a study as pages and plots need them, and their curves over turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from turngate.component import Direction
from turngate.traces.analysis.labels import Labels, with_labels
from turngate.traces.analysis.run import (
    EvaluatorKey,
    RunMeasures,
    RunSummary,
    RunView,
    Standing,
    gate_line,
    read_rescored,
    standings,
    summarise,
    truth_direction,
    with_rescored,
)
from turngate.traces.analysis.statistics import bootstrap_ratio
from turngate.traces.analysis.study.study_view import StudyRun, StudyView
from turngate.traces.images import ImageStore

__all__ = ["Curve", "LoadedRun", "Measured", "by_origin", "load_runs", "score_curve", "truth_curve"]


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
    study: StudyView, labels: Labels | None = None, later: Mapping[EvaluatorKey, str] | None = None
) -> list[LoadedRun]:
    """Every run that was begun, in the order of the plan; raises `DamagedRun` when one cannot be read.

    With `labels` people's verdicts stand in the place of the recorded truth. `later` names the evaluators that scored
    runs afterwards and are wanted.
    """
    return [_load(run, labels, later or {}) for run in study.begun()]


def _load(run: StudyRun, labels: Labels | None, later: Mapping[EvaluatorKey, str]) -> LoadedRun:
    view = run.load() if labels is None else with_labels(run.load(), labels)
    found = [one for one in read_rescored(view).evaluators if one.key in later] if later else []
    return LoadedRun(
        run=run,
        summary=summarise(view),
        gate=gate_line(view),
        evaluators=list(view.config.evaluators),
        stands=standings(view),
        truth_direction=truth_direction(view),
        images=view.folder.images,
        later=[later[one.key] for one in found],
        later_stands=standings(with_rescored(view, found, later)) if found else [],
    )


# A run of a study with what was counted in it.


@dataclass(frozen=True)
class Measured:
    """Which run, everything recorded about it, and its numbers."""

    run: StudyRun
    view: RunView
    numbers: RunMeasures


def by_origin(runs: Iterable[Measured]) -> dict[str, list[RunMeasures]]:
    """Origin -> numbers of its runs: the groups of every bootstrap."""
    groups: dict[str, list[RunMeasures]] = defaultdict(list)
    for one in runs:
        groups[one.run.origin].append(one.numbers)
    return groups


# What an arm's image was like after each turn, over all its runs.

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
