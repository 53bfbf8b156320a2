"""Where a run stands: a fold of its decisions. The live loop and resume use the same `advance`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from turngate.traces.records import DecisionRow

__all__ = ["Position", "advance", "fold"]


@dataclass(frozen=True)
class Position:
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
    def start(cls, origin: str) -> Position:
        """Before turn 1."""
        return cls(1, 1, origin, 0)


def advance(position: Position, row: DecisionRow) -> Position:
    """The position after one decision."""
    if not row.closes_turn:
        return replace(position, attempt=row.attempt + 1, status=row.status_after)
    kept = tuple(step for step in position.lineage if step[0] <= row.image_turn_after)
    if row.image_turn_after == row.turn:
        kept = (*kept, (row.turn, row.image_after))
    return Position(row.turn + 1, 1, row.image_after, row.image_turn_after, kept, row.status_after)


def fold(origin: str, rows: Iterable[DecisionRow]) -> Position:
    """The position after all recorded decisions, in order."""
    return reduce(advance, rows, Position.start(origin))
