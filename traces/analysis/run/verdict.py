"""The answer in words: propagates, stalls, or catches and goes on."""

from __future__ import annotations

from typing import Literal

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run.answer import RunAnswer
from turngate.traces.analysis.statistics import counted
from turngate.traces.records import RunStatus

__all__ = ["VERDICT_WORDS", "Verdict", "VerdictKind", "run_verdict"]

VerdictKind = Literal["propagates", "stalls", "goes_on", "not_told"]
"""One of the three answers, or none: no truth was measured, or no turn is closed yet."""

VERDICT_WORDS: dict[VerdictKind, str] = {
    "propagates": "propagates",
    "stalls": "stalls",
    "goes_on": "goes on",
    "not_told": "not told",
}
"""The kinds as tables print them."""


class Verdict(FrozenModel):
    """What a run came to."""

    kind: VerdictKind
    words: str
    """One sentence without a full stop; it begins with the kind."""


def run_verdict(answer: RunAnswer, status: RunStatus) -> Verdict:
    """Propagates when a damaged image ever stood, else stalls when nothing new came at the end, else goes on.

    Only sound progress, damage exposure and the last new image speak: a run that refused everything did not succeed.
    """
    kind, words = _kind_and_words(answer)
    extra = "".join(f"; {part}" for part in (_ended(answer, status), _unknown(answer)) if part)
    return Verdict(kind=kind, words=f"{'so far ' if answer.going_on else ''}{words}{extra}")


def _kind_and_words(answer: RunAnswer) -> tuple[VerdictKind, str]:
    planned = counted(answer.planned, "turn")
    if not answer.planned:
        return "not_told", "not told: no turn is closed yet"
    if not answer.known:
        since = f", nothing new since turn {answer.stalled_since}" if answer.stalled_since else ""
        return "not_told", f"not told: no truth was measured; {_images(answer.new_images)} in {planned}{since}"
    sound = _sound_images(answer)
    if answer.first_damage_turn is not None and answer.last_damage_turn is not None:
        words = f"propagates: a damaged image stands after {answer.exposed_turns} of {planned}"
        if answer.exposed_turns > 1:
            words += f", from turn {answer.first_damage_turn} on"
        else:
            words += f", turn {answer.first_damage_turn}"
        if answer.last_damage_turn < answer.planned:
            words += f", none after turn {answer.last_damage_turn}"
        stalled = f"; nothing new since turn {answer.stalled_since}" if answer.stalled_since is not None else ""
        return "propagates", f"{words}; {sound}{stalled}"
    if answer.stalled_since == 0:
        return "stalls", f"stalls: no new image in {planned}, the origin stands untouched"
    if answer.stalled_since is not None:
        return "stalls", f"stalls: nothing new since turn {answer.stalled_since} of {answer.planned}, sound; {sound}"
    ends = answer.episodes
    if ends.total + ends.open > 0:
        # Of a run at work it is not known yet whether anything comes after what it refused.
        words = "catches and goes on" if ends.caught or not answer.going_on else "catches"
        return "goes_on", f"{words}: {sound} in {planned}, exposure 0"
    return "goes_on", f"goes on: {sound} in {planned}; no candidate was damaged"


def _sound_images(answer: RunAnswer) -> str:
    number = answer.turns.progressed
    repeated = f" ({answer.different} different)" if answer.different < number else ""
    return f"{number or 'no'} new sound image{'' if number == 1 else 's'}{repeated}"


def _images(number: int) -> str:
    return f"{number or 'no'} new image{'' if number == 1 else 's'}"


_ENDINGS: dict[RunStatus, str] = {
    "stopped": "the run stopped",
    "attempts_exhausted": "the run ran out of attempts",
    "budget_exhausted": "the run's budget ended",
    "waiting": "the run waits",
    "interrupted": "the run was interrupted",
    "failed": "the run failed",
}


def _ended(answer: RunAnswer, status: RunStatus) -> str:
    if answer.going_on or answer.ended_at is None or status not in _ENDINGS:
        return ""
    return f"{_ENDINGS[status]} after turn {answer.ended_at} of {answer.planned}"


def _unknown(answer: RunAnswer) -> str:
    if answer.diverged_turn is not None:
        return f"from turn {answer.diverged_turn} on the record tells no more: it was made from other images"
    if answer.known and answer.turns.unknown:
        return f"the truth after {counted(answer.turns.unknown, 'turn')} is not known"
    return ""
