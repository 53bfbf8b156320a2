"""What a gate may remember: readings of the origin, of the lineage, and of this turn's candidates."""

from __future__ import annotations

from collections.abc import Iterable

from turngate.agent.gate import Accepted, Past, Reading, Readings
from turngate.agent.rejection import Tried
from turngate.traces.progress import Progress
from turngate.traces.records import AttemptRow, CompositeRow, DecisionRow, ScoreRow

__all__ = ["GateHistory", "readings"]


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
