"""Which image the run stood at after each turn."""

from __future__ import annotations

from dataclasses import dataclass

from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.records import ScoreRow, TruthRow

__all__ = ["Standing", "standings", "turns_of"]


@dataclass(frozen=True)
class Standing:
    """The current image after a turn, and what is known about it."""

    turn: int
    """0 before the first turn."""
    image: str
    """SHA-256."""
    image_turn: int
    """Turn that accepted it; 0 for the origin."""
    scores: dict[str, ScoreRow]
    truth: TruthRow | None


def turns_of(run: RunView) -> dict[int, list[AttemptView]]:
    """Turn -> its attempts, in order."""
    turns: dict[int, list[AttemptView]] = {}
    for attempt in run.attempts:
        turns.setdefault(attempt.row.turn, []).append(attempt)
    return turns


def standings(run: RunView) -> list[Standing]:
    """The current image at the start and after every closed turn."""
    origin = str(run.info.origin["image"])
    taken = {attempt.row.turn: attempt for attempt in run.attempts if attempt.taken}
    found = [Standing(0, origin, 0, run.baseline, run.baseline_truth)]
    for attempt in run.attempts:
        decision = attempt.decision
        if not decision.closes_turn:
            continue
        holder = taken.get(decision.image_turn_after)
        known = (run.baseline, run.baseline_truth) if holder is None else (holder.standing_scores, holder.standing)
        found.append(Standing(decision.turn, decision.image_after, decision.image_turn_after, *known))
    return found
