"""Damage episodes, false alarms and delays: failures counted once per input, not once per try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run.run_view import AttemptView
from turngate.traces.analysis.run.turns import Stretch, TurnResult

__all__ = ["AlarmCount", "DamageEpisode", "EpisodeEnd", "damage_episodes", "false_alarms"]


EpisodeEnd = Literal["caught", "stalled", "propagated", "open"]
"""How an episode ended.

- `caught`: another image came to stand, and no damaged one made from the input ever did.
- `stalled`: the run's horizon came while the input stayed: caught, and nothing came after it.
- `propagated`: a damaged image made from the input came to stand.
- `open`: the run is still at work, or what came next is not known (a recorded chain diverged).
"""


class DamageEpisode(FrozenModel):
    """All damaged candidates made from one sound input."""

    input_image: str
    """SHA-256 of the input."""
    input_turn: int
    """Turn that took it; 0 for the origin."""
    turn: int
    """Turn of the first damaged candidate."""
    candidates: int
    """Damaged candidates made from the input, retries and later turns included."""
    end: EpisodeEnd
    detected: int | None
    """First turn, from `turn` up to the next episode, in which damaged candidates came and none was let through;
    after a damaged image stands, these are the candidates made from it. None when there is no such turn."""

    @property
    def delay(self) -> int | None:
        """Turns from the first damaged candidate to the turn that refused all of them; None when none did."""
        return None if self.detected is None else self.detected - self.turn


class AlarmCount(FrozenModel):
    """Inputs from which a sound candidate was made."""

    inputs: int
    alarmed: int
    """Those of them from which a sound candidate was refused; each counts once."""


@dataclass
class _Open:
    """An episode while it is read."""

    input_image: str
    input_turn: int
    turn: int
    candidates: int = 0
    propagated: bool = False
    left: bool = False
    """Another image came to stand after it began."""


def damage_episodes(stretch: Stretch, results: Sequence[TurnResult]) -> list[DamageEpisode]:
    """The episodes of `stretch`, in the order of their first damaged candidate; `results` are its turns.

    An input is its bytes: an image that comes back after a rollback is the same input, so a loop that goes round and
    round the same damaged candidate has one episode. Candidates beyond a recorded chain's divergence begin none.
    """
    damaged_after: dict[int, bool | None] = {0: stretch.origin_damaged}
    damaged_after |= {result.turn: result.damaged for result in results if result.new or result.result == "no_change"}
    found: dict[str, _Open] = {}
    for members in _by_turn(stretch.attempts):
        turn = members[0].row.turn
        for attempt in members:
            if damaged_after.get(attempt.row.input_turn) is not False or not _damaging(attempt):
                continue
            row = attempt.row
            opened = found.setdefault(row.input_image, _Open(row.input_image, row.input_turn, turn))
            opened.candidates += 1
            standing = attempt.standing if attempt.taken else None
            opened.propagated |= standing is not None and standing.damaged is True
        if turn <= len(results) and not results[turn - 1].beyond:
            before = results[turn - 2].image if turn > 1 else stretch.origin
            for opened in found.values():
                opened.left |= results[turn - 1].image != before or results[turn - 1].new
    known = not stretch.going_on and not any(result.beyond for result in results)
    begins = sorted(one.turn for one in found.values())
    refusals = _refusing_turns(stretch.attempts)
    return [_closed(one, known, refusals, begins) for one in found.values()]


def _closed(opened: _Open, known: bool, refusals: Iterable[int], begins: Sequence[int]) -> DamageEpisode:
    end: EpisodeEnd = "propagated" if opened.propagated else "caught"
    if not opened.propagated and not opened.left:
        end = "stalled" if known else "open"
    until = next((turn for turn in begins if turn > opened.turn), None)
    detected = next((turn for turn in refusals if turn >= opened.turn and (until is None or turn < until)), None)
    return DamageEpisode(
        input_image=opened.input_image,
        input_turn=opened.input_turn,
        turn=opened.turn,
        candidates=opened.candidates,
        end=end,
        detected=detected,
    )


def _refusing_turns(attempts: Sequence[AttemptView]) -> list[int]:
    """Turns that made damaged candidates and let none of them through, fresh or inherited damage alike."""
    found = []
    for members in _by_turn(attempts):
        damaging = [attempt for attempt in members if _damaging(attempt)]
        if damaging and not any(_stands_damaged(attempt) for attempt in damaging):
            found.append(members[0].row.turn)
    return found


def false_alarms(attempts: Iterable[AttemptView]) -> AlarmCount:
    """Inputs whose sound candidates were refused, of all inputs from which a sound candidate was made.

    Refused: rejected, and not taken all the same (a forced accept takes it).
    """
    refused: dict[str, bool] = {}
    for attempt in attempts:
        row, truth = attempt.row, attempt.truth
        if row.outcome != "edited" or row.beyond_divergence or truth is None or truth.damaged is not False:
            continue
        alarm = attempt.decision.verdict == "reject" and not attempt.taken
        refused[row.input_image] = refused.get(row.input_image, False) or alarm
    return AlarmCount(inputs=len(refused), alarmed=sum(refused.values()))


def _damaging(attempt: AttemptView) -> bool:
    """The candidate is damaged, or what was taken of it is (a masked accept can damage a sound one)."""
    if attempt.row.outcome != "edited" or attempt.row.beyond_divergence:
        return False
    return (attempt.truth is not None and attempt.truth.damaged is True) or _stands_damaged(attempt)


def _stands_damaged(attempt: AttemptView) -> bool:
    return attempt.taken and attempt.standing is not None and attempt.standing.damaged is True


def _by_turn(attempts: Iterable[AttemptView]) -> list[list[AttemptView]]:
    turns: dict[int, list[AttemptView]] = {}
    for attempt in attempts:
        turns.setdefault(attempt.row.turn, []).append(attempt)
    return list(turns.values())
