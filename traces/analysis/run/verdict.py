"""The answer in words: propagates, stalls, or catches and goes on."""

from __future__ import annotations

from typing import Literal

from turngate.errors import counted
from turngate.frozen import FrozenModel
from turngate.traces.analysis.run.answer import EpisodeCounts, RunAnswer
from turngate.traces.records import RunStatus

__all__ = ["VERDICT_WORDS", "RunVerdict", "VerdictKind", "goes_on_words", "run_verdict"]

VerdictKind = Literal["propagates", "stalls", "goes_on", "not_told"]
"""One of the three answers, or none: no truth was measured, or no turn is closed yet."""

VERDICT_WORDS: dict[VerdictKind, str] = {
    "propagates": "propagates",
    "stalls": "stalls",
    "goes_on": "goes on",
    "not_told": "not told",
}
"""The kinds as tables print them."""


class RunVerdict(FrozenModel):
    """What a run came to."""

    kind: VerdictKind
    words: str
    """One sentence without a full stop."""


def run_verdict(answer: RunAnswer, status: RunStatus) -> RunVerdict:
    """Propagates when a damaged image ever stood, else stalls when nothing new came at the end, else goes on.

    Only sound progress, damage exposure and the last new image speak: a run that refused everything did not succeed.
    """
    kind, words = _kind_and_words(answer)
    extra = "".join(f"; {part}" for part in (_ended(answer, status), _unknown(answer)) if part)
    return RunVerdict(kind=kind, words=f"{'so far ' if answer.going_on else ''}{words}{extra}")


def _kind_and_words(answer: RunAnswer) -> tuple[VerdictKind, str]:
    told = counted(answer.told_turns, "turn")
    if answer.turns.not_reached == answer.planned:  # also where nothing is planned yet
        return "not_told", "not told: no turn is closed yet"
    if not answer.told_turns:
        return "not_told", "not told"
    if not answer.known:
        since = f", nothing new since turn {answer.stalled_since}" if answer.stalled_since else ""
        return "not_told", f"not told: no truth was measured; {_images(answer.new_images)} in {told}{since}"
    sound = _sound_images(answer)
    if answer.first_damage_turn is not None and answer.last_damage_turn is not None:
        words = f"propagates: a damaged image stands after {answer.exposed_turns} of {told}"
        if answer.exposed_turns > 1:
            words += f", from turn {answer.first_damage_turn} on"
        else:
            words += f", turn {answer.first_damage_turn}"
        if answer.last_damage_turn < answer.told_turns:
            words += f", none after turn {answer.last_damage_turn}"
        stalled = f"; nothing new since turn {answer.stalled_since}" if answer.stalled_since is not None else ""
        return "propagates", f"{words}; {sound}{stalled}"
    if answer.stalled_since == 0:
        return "stalls", f"stalls: no new image in {told}, the origin stands untouched"
    if answer.stalled_since is not None:
        return "stalls", f"stalls: nothing new since turn {answer.stalled_since} of {answer.planned}, sound; {sound}"
    words = goes_on_words(answer.episodes)
    end = "exposure 0" if answer.episodes.total + answer.episodes.open else "no candidate was damaged"
    return "goes_on", f"{words}: {sound} in {told}, {end}"


def goes_on_words(ends: EpisodeCounts) -> str:
    """How a loop went on: only where another image followed what it refused did it catch and go on."""
    if ends.caught:
        return "catches and goes on"
    # Too late to be a stall of the run, or not known yet whether anything comes after it.
    return "catches at the end" if ends.stalled else "catches" if ends.open else "goes on"


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
    "failed": "the run failed",
}


def _ended(answer: RunAnswer, status: RunStatus) -> str:
    if answer.going_on or answer.ended_at is None or status not in _ENDINGS:
        return ""
    return f"{_ENDINGS[status]} after turn {answer.ended_at} of {answer.planned}"


def _unknown(answer: RunAnswer) -> str:
    if answer.diverged_turn is not None:
        return f"from turn {answer.diverged_turn} on the record tells no more: it was made from other images"
    if answer.known and answer.turns.unknown:  # a diverged record has been told above
        return f"the truth after {counted(answer.turns.unknown, 'turn')} is not known"
    return ""
