"""The progress of a run as a fold of its decisions, and what a gate may remember. Live loop and resume share both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from turngate.agent.gate import Accepted, Past, Reading, Readings
from turngate.agent.rejection import Tried
from turngate.traces.records import AttemptRow, CompositeRow, DecisionRow, ScoreRow

__all__ = ["GateHistory", "Progress", "advance", "fold", "readings"]


@dataclass(frozen=True)
class Progress:
    """The next thing to do, and the image to do it to."""

    turn: int
    """1-based turn that is owed."""
    attempt: int
    """1-based attempt that is owed."""
    image: str
    """SHA-256 of the current image."""
    image_turn: int
    """Turn that accepted it; 0 for the origin."""
    lineage: tuple[tuple[int, str], ...] = ()
    """Accepted images from the first to the current one, as (turn, SHA-256); empty at the origin."""
    status: str = "running"

    @classmethod
    def start(cls, origin: str) -> Progress:
        """Before turn 1."""
        return cls(1, 1, origin, 0)


def advance(progress: Progress, row: DecisionRow) -> Progress:
    """The position after one decision."""
    if not row.closes_turn:
        return replace(progress, attempt=row.attempt + 1, status=row.status_after)
    kept = tuple(step for step in progress.lineage if step[0] <= row.image_turn_after)
    if row.image_turn_after == row.turn:
        kept = (*kept, (row.turn, row.image_after))
    return Progress(row.turn + 1, 1, row.image_after, row.image_turn_after, kept, row.status_after)


def fold(origin: str, rows: Iterable[DecisionRow]) -> Progress:
    """The position after all recorded decisions, in order."""
    return reduce(advance, rows, Progress.start(origin))


# What a gate may remember: readings of the origin, of the lineage, and of this turn's candidates.


def readings(scores: Iterable[ScoreRow]) -> Readings:
    """The scored results among `scores`, by evaluator."""
    return {
        score.evaluator: Reading(score.evaluator, score.value, score.direction, score.label)
        for score in scores
        if score.status == "scored" and score.value is not None
    }


class GateHistory:
    """Filled by `note` with every recorded attempt in order, live or on resume alike."""

    def __init__(self, origin: Readings) -> None:
        self.origin = origin
        self.accepted: list[Accepted] = []
        self.tried: list[Tried] = []

    def note(
        self,
        attempt: AttemptRow,
        scores: Readings,
        decision: DecisionRow,
        after: Progress,
        composite: CompositeRow | None = None,
    ) -> None:
        """Take in one recorded attempt; `after` is the position it led to, `composite` what its masked accept made."""
        self.try_candidate(attempt, scores)
        if not decision.closes_turn:
            return
        while self.accepted and self.accepted[-1].turn > after.image_turn:
            self.accepted.pop()
        if after.image_turn == attempt.turn:
            taken = next(tried for tried in self.tried if tried.attempt == decision.taken_attempt)
            seen = readings(composite.scores) if composite else taken.readings
            self.accepted.append(Accepted(attempt.turn, seen))
        self.tried = []

    def try_candidate(self, attempt: AttemptRow, scores: Readings) -> None:
        """Remember this turn's candidate, once."""
        if attempt.image is not None and all(tried.attempt != attempt.attempt for tried in self.tried):
            self.tried.append(Tried(attempt.attempt, attempt.image, scores))

    def past(self, turn: int, attempt: int, seed: int, damaged: bool | None) -> Past:
        """What the gate is shown."""
        return Past(turn, attempt, seed, self.origin, self.accepted, damaged)
