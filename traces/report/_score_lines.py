"""Scores of an attempt beside those of the images that it is compared with."""

from __future__ import annotations

from dataclasses import dataclass

from turngate.traces.analysis.later_view import MARK
from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.records import ScoreRow

__all__ = ["ScoreLine", "score_lines"]


@dataclass(frozen=True)
class ScoreLine:
    """One evaluator's result on the candidate beside those of the origin and of the image that was edited."""

    name: str
    candidate: ScoreRow | None
    current: ScoreRow | None
    origin: ScoreRow | None

    @property
    def label(self) -> str:
        """The name, without the mark of what was scored afterwards: such lines stand under a heading of their own."""
        return self.name.removesuffix(MARK)


def score_lines(run: RunView) -> dict[tuple[int, int], list[ScoreLine]]:
    """Turn and attempt -> one line per evaluator."""
    holders = {attempt.row.turn: attempt for attempt in run.attempts if attempt.taken}
    found = {}
    for attempt in run.attempts:
        edited = holders.get(attempt.row.input_turn)
        current = run.baseline if edited is None else edited.standing_scores
        names = dict.fromkeys([*run.info.config["evaluators"], *attempt.scores])
        found[attempt.row.turn, attempt.row.attempt] = [
            ScoreLine(name, attempt.scores.get(name), current.get(name), run.baseline.get(name)) for name in names
        ]
    return found
