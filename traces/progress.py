"""Where a run stands: a fold of its decisions. The live loop, resume, analysis and rescoring use the same `advance`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from turngate.traces.lock import holder
from turngate.traces.records import DecisionRow, EventRow, RunStatus

__all__ = ["Progress", "advance", "fold", "run_status"]


@dataclass(frozen=True)
class Progress:
    """The next thing to do, and the image to do it to."""

    turn: int
    """1-based turn that comes next."""
    attempt: int
    """1-based attempt that comes next."""
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

    @property
    def history(self) -> tuple[str, ...]:
        """SHA-256 of the accepted images that led to the current one, the first first."""
        return tuple(image for _, image in self.lineage)

    def first(self, candidate: str) -> str:
        """SHA-256 of the first accepted image: `candidate` itself where nothing was accepted before it."""
        return self.lineage[0][1] if self.lineage else candidate


def advance(progress: Progress, row: DecisionRow) -> Progress:
    """The position after one decision."""
    if not row.closes_turn:
        return replace(progress, attempt=row.attempt + 1, status=row.status_after)
    kept = progress.lineage
    if row.image_turn_after < progress.image_turn:  # back: what came after that image is no ancestor any more
        kept = tuple(step for step in kept if step[0] <= row.image_turn_after)
    if row.image_turn_after == row.turn:
        kept = (*kept, (row.turn, row.image_after))
    return Progress(row.turn + 1, 1, row.image_after, row.image_turn_after, kept, row.status_after)


def fold(origin: str, rows: Iterable[DecisionRow]) -> Progress:
    """The position after all recorded decisions, in order."""
    return reduce(advance, rows, Progress.start(origin))


def run_status(folder: Path, decisions: Sequence[DecisionRow], events: Sequence[EventRow]) -> RunStatus:
    """Status of the run in `folder`.

    The last decision wins when it ended the run, so a run whose process died after its last turn still counts as
    complete. Otherwise the last `ended` event does, unless a later `started` one shows that the run went on.
    """
    if decisions and decisions[-1].status_after != "running":
        return decisions[-1].status_after
    if holder(folder) is not None:
        return "running"
    turns = [event for event in events if event.kind in ("started", "ended")]
    if turns and turns[-1].kind == "ended":
        status: RunStatus = turns[-1].data["status"]
        return status
    return "interrupted"
