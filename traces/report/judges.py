"""The evaluators of a study as its page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turngate.pages.report.charts.looks import Look
from turngate.traces.analysis.study.evaluators import EvaluatorAnswer

__all__ = ["Judge", "judges_of"]


@dataclass(frozen=True)
class Judge:
    """One evaluator with its look and its numbers."""

    look: Look
    answer: EvaluatorAnswer

    def misses(self, step: int) -> int | None:
        """Runs in which the score at `step` is not worse than at turn 1; None when there was none to look at."""
        gap = self.answer.gap
        return sum(not delta < 0 for delta in gap.deltas[step]) if gap.runs else None


def judges_of(answers: Sequence[EvaluatorAnswer]) -> list[Judge]:
    """Every evaluator of the study."""
    return [Judge(Look.of(place, "evaluator"), answer) for place, answer in enumerate(answers)]
