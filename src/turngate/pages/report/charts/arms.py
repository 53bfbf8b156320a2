"""The arms of a study as its page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turngate.pages.report.charts.series_style import SeriesStyle
from turngate.traces.analysis.statistics import how_simulated
from turngate.traces.analysis.study import ArmAnswer, ArmDifference, EvaluatorAnswer, LoadedRun, TruthAnswer

__all__ = ["Arm", "EvaluatorSeries", "arms_of", "evaluator_series"]


@dataclass(frozen=True)
class Arm:
    """One arm with its runs and its numbers."""

    name: str
    style: SeriesStyle
    gate: str
    """The gate in one line."""
    answer: ArmAnswer
    pair: ArmDifference | None
    """None for the arm that others are held against, and without a truth."""
    runs: list[LoadedRun]

    @property
    def simulated(self) -> str:
        """`simulated` when all its runs are, `partly simulated` when some are, else empty."""
        return how_simulated(self.answer.simulated_runs, self.answer.runs)


def arms_of(answer: TruthAnswer, runs: Sequence[LoadedRun]) -> list[Arm]:
    """Every arm that has a run, in the order of the plan."""
    pairs = {pair.arm: pair for pair in answer.pairs}
    arms = []
    for place, numbers in enumerate(answer.arms):
        mine = [run for run in runs if run.run.arm == numbers.arm]
        arms.append(Arm(numbers.arm, SeriesStyle.of(place), mine[0].gate, numbers, pairs.get(numbers.arm), mine))
    return arms


@dataclass(frozen=True)
class EvaluatorSeries:
    """One evaluator with its style and its numbers."""

    style: SeriesStyle
    answer: EvaluatorAnswer

    def misses(self, step: int) -> int | None:
        """Runs in which the score at `step` is not worse than at turn 1; None when there was none to look at."""
        gap = self.answer.gap
        return sum(not delta < 0 for delta in gap.deltas[step]) if gap.runs else None


def evaluator_series(answers: Sequence[EvaluatorAnswer]) -> list[EvaluatorSeries]:
    """Every evaluator of the study."""
    return [EvaluatorSeries(SeriesStyle.of(place, "evaluator"), answer) for place, answer in enumerate(answers)]
