"""What each planned turn of a run came to: the unit of every answer (a turn has exactly one result)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.progress import Progress, advance
from turngate.traces.records import TruthRow

__all__ = ["Stretch", "TurnOutcome", "TurnResult", "stretch_of", "turn_results"]


TurnOutcome = Literal["progressed", "propagated", "held", "went_back", "no_change", "not_reached", "unknown"]
"""What a planned turn came to.

- `progressed`: a new image stands, and it is sound.
- `propagated`: a new image stands, and it is damaged.
- `held`: no new image; the one before still stands.
- `went_back`: a rollback or a restart put an earlier image in the place of the current one.
- `no_change`: the editor returned its input: neither progress nor catch.
- `not_reached`: the run ended before this turn; the last standing image still stands.
- `unknown`: the truth of the standing image is not known, a recorded chain lacks the image of the turn, or the turn
  lies beyond the point of divergence of a recorded chain, whether the run reached it or not: its candidates were made
  from another image than the one that stood. In no rate.
"""


class TurnResult(FrozenModel):
    """One planned turn, and the image that stands after it."""

    turn: int
    """1-based."""
    result: TurnOutcome
    damaged: bool | None
    """The standing image is damaged; None where its truth is not known."""
    source: Literal["fresh", "inherited"] | None = None
    """Only of `propagated`: the edited image was sound (`fresh`), or it was damaged already (`inherited`)."""
    image: str
    """SHA-256 of the standing image."""
    image_turn: int
    """Turn that took it; 0 for the origin."""
    new: bool = False
    """An edited image was taken in this turn and has other bytes than the one before, whatever its truth. False beyond
    the point of divergence, where the record says nothing."""
    forced: bool = False
    """The gate had rejected the image that was taken."""
    calls: int = 0
    """Editor calls of the turn."""
    beyond: bool = False
    """The turn lies beyond the point of divergence of a recorded chain."""


@dataclass(frozen=True)
class Stretch:
    """What is folded: attempts in order, what they began with, and how many turns were planned."""

    origin: str
    """SHA-256 of the origin."""
    baseline: TruthRow | None
    """Truth of the origin."""
    attempts: Sequence[AttemptView]
    planned: int
    going_on: bool = False
    """More turns may come (a run at work or interrupted), or what came after is not known: then no turn is
    `not_reached`, and what is open at the end is neither caught nor a stall."""

    @property
    def origin_damaged(self) -> bool:
        """Damage is counted from the origin on: it is sound unless its own truth says otherwise."""
        return self.baseline is not None and self.baseline.damaged is True

    @property
    def closed(self) -> int:
        """Number of closed turns."""
        return sum(attempt.decision.closes_turn for attempt in self.attempts)

    @property
    def horizon(self) -> int:
        """Number of turns that have a result."""
        return self.closed if self.going_on else max(self.planned, self.closed)

    @property
    def known(self) -> bool:
        """Something is known of the truth: of a candidate, or, where no candidate was made, of the origin."""
        edited = [attempt for attempt in self.attempts if attempt.row.outcome == "edited"]
        if not edited:
            return self.baseline is not None
        # A composite's truth may be known where its candidate's is not.
        truths = [truth for one in edited for truth in (one.truth, one.standing if one.taken else None)]
        return any(truth is not None and truth.damaged is not None for truth in truths)


def stretch_of(run: RunView, turns: int | None = None) -> Stretch:
    """The run up to its last planned turn, or up to turn `turns`.

    One that is at work, or was interrupted and can be resumed, is counted as far as it got.
    """
    planned = run.config.turns if turns is None else min(turns, run.config.turns)
    attempts = run.attempts if turns is None else [one for one in run.attempts if one.row.turn <= planned]
    going_on = run.status in ("running", "interrupted") and sum(one.decision.closes_turn for one in attempts) < planned
    return Stretch(run.info.origin.image, run.baseline_truth, attempts, planned, going_on)


def turn_results(stretch: Stretch) -> list[TurnResult]:
    """One result per planned turn, in order.

    The truth of a turn is that of the very image that stands: a composite's after a masked accept, an earlier one's
    after a rollback. A turn that the run left open (no decision closed it) is `not_reached`, and so are those after it;
    beyond the point of divergence they are `unknown`, for a run that ended there might not have.
    """
    progress = Progress.start(stretch.origin)
    damaged: dict[int, bool | None] = {0: stretch.origin_damaged}
    found: list[TurnResult] = []
    members: list[AttemptView] = []
    for attempt in stretch.attempts:
        members.append(attempt)
        before, progress = progress, advance(progress, attempt.decision)
        if not attempt.decision.closes_turn:
            continue
        found.append(_closed(members, before, progress, damaged))
        members = []
    beyond = (bool(found) and found[-1].beyond) or any(one.row.beyond_divergence for one in members)
    standing = None if beyond else damaged[progress.image_turn]
    for turn in range(len(found) + 1, stretch.horizon + 1):
        # The calls of a turn that was left open count: they were paid.
        calls = len(members) if turn == len(found) + 1 else 0
        found.append(
            TurnResult(
                turn=turn, result="unknown" if beyond else "not_reached", damaged=standing, image=progress.image,
                image_turn=progress.image_turn, calls=calls, beyond=beyond,
            )
        )  # fmt: skip
        members = []
    return found


def _closed(
    members: Sequence[AttemptView], before: Progress, after: Progress, damaged: dict[int, bool | None]
) -> TurnResult:
    turn = members[0].row.turn
    taken = next((attempt for attempt in members if attempt.taken), None)
    if taken is not None:
        # The same bytes are as sound as they were.
        edited = taken.row.outcome == "edited"
        damaged[turn] = _damaged(taken.standing) if edited else damaged.get(taken.row.input_turn)
    standing = damaged.get(after.image_turn)
    beyond = any(attempt.row.beyond_divergence for attempt in members)
    # By bytes: an edit of the origin (history `origin`) may bring the very image that stands already, and an ancestor
    # may have the bytes of the current image.
    moved = after.image != before.image
    new = moved and not beyond and taken is not None and taken.row.outcome == "edited"
    source: Literal["fresh", "inherited"] | None = None
    result: TurnOutcome
    lost = taken is None and any(attempt.row.not_on_record for attempt in members)
    if beyond or lost or (standing is None and not _unchanged(members, taken)):
        result = "unknown"
    elif taken is not None and new:
        result = "propagated" if standing else "progressed"
        if standing:
            source = "inherited" if damaged.get(taken.row.input_turn) else "fresh"
    elif _unchanged(members, taken):
        result = "no_change"
    else:
        result = "went_back" if moved else "held"
    return TurnResult(
        turn=turn,
        result=result,
        damaged=None if beyond or lost else standing,
        source=source,
        image=after.image,
        image_turn=after.image_turn,
        new=new,
        forced=new and members[-1].decision.action in ("force_accept", "keep_best"),
        calls=len(members),
        beyond=beyond,
    )


def _unchanged(members: Sequence[AttemptView], taken: AttemptView | None) -> bool:
    """The turn brought nothing but the editor's input."""
    if taken is not None:
        return taken.row.outcome == "no_change"
    closed_where_it_was = members[-1].decision.action not in ("rollback", "restart")
    outcomes = {attempt.row.outcome for attempt in members}
    return closed_where_it_was and "no_change" in outcomes and "edited" not in outcomes


def _damaged(truth: TruthRow | None) -> bool | None:
    return truth.damaged if truth is not None else None
