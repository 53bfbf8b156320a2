"""Scores of clean edits, for a threshold with a stated false-alarm rate."""

from __future__ import annotations

from collections.abc import Iterable

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import RunView

__all__ = ["CleanScore", "clean_scores"]


class CleanScore(FrozenModel):
    """One edit that is not damaged."""

    run: str
    """Run id."""
    turn: int
    attempt: int
    score: float
    """In the evaluator's unit."""
    difference: float | None
    """Score minus the origin's; None when the origin was not scored."""
    direction: str
    """Which way is better."""
    known: bool
    """Truth says that it is sound; otherwise it is taken for clean because of its turn."""


def clean_scores(runs: Iterable[RunView], evaluator: str, last_turn: int) -> list[CleanScore]:
    """Scored candidates of turns 1..`last_turn` that truth does not call damaged, whatever the gate decided.

    An image counts once: the arms of a study begin with the same candidates.
    """
    found: list[CleanScore] = []
    images: set[str | None] = set()
    for run in runs:
        origin = run.baseline.get(evaluator)
        start = origin.value if origin else None
        for attempt in run.attempts:
            score = attempt.scores.get(evaluator)
            if attempt.row.turn > last_turn or attempt.row.outcome != "edited" or score is None or score.value is None:
                continue
            damaged = attempt.truth.damaged if attempt.truth else None
            if damaged or attempt.row.image in images:
                continue
            images.add(attempt.row.image)
            found.append(
                CleanScore(
                    run=run.info.run,
                    turn=attempt.row.turn,
                    attempt=attempt.row.attempt,
                    score=score.value,
                    difference=None if start is None else score.value - start,
                    direction=score.direction,
                    known=damaged is False,
                )
            )
    return found
