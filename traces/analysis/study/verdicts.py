"""The verdict of an arm: how many of its runs came to what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import VERDICT_WORDS, EpisodeCounts, RunAnswer, VerdictKind, goes_on_words
from turngate.traces.analysis.statistics import counted
from turngate.traces.analysis.study.loaded import LoadedRun

__all__ = ["ArmVerdict", "arm_verdict"]


class ArmVerdict(FrozenModel):
    """What the runs of an arm came to."""

    runs: dict[VerdictKind, int]
    """Runs by their verdict; kinds without a run are left out."""
    words: str
    """One sentence without a full stop."""


def arm_verdict(runs: Sequence[LoadedRun]) -> ArmVerdict:
    """The verdicts of the runs, counted; a single run's own words."""
    kinds = Counter(one.summary.verdict.kind for one in runs)
    ordered = {kind: kinds[kind] for kind in sorted(VERDICT_WORDS, key=lambda kind: -kinds[kind]) if kinds[kind]}
    if len(runs) == 1:
        return ArmVerdict(runs=ordered, words=runs[0].summary.verdict.words)
    parts = []
    for kind, number in ordered.items():
        answers = [one.answer for one in runs if one.summary.verdict.kind == kind]
        share = f"in all {number} runs" if number == len(runs) else f"in {number} of {len(runs)} runs"
        parts.append(f"{_kind_words(kind, answers)} {share}{_details(kind, answers)}")
    return ArmVerdict(runs=ordered, words="; ".join(parts))


def _kind_words(kind: VerdictKind, answers: Sequence[RunAnswer]) -> str:
    if kind != "goes_on":
        return VERDICT_WORDS[kind]
    ends = [one.episodes for one in answers]
    return goes_on_words(
        EpisodeCounts(
            caught=sum(one.caught for one in ends),
            stalled=sum(one.stalled for one in ends),
            open=sum(one.open for one in ends),
        )
    )


def _details(kind: VerdictKind, answers: Sequence[RunAnswer]) -> str:
    turns = sum(one.planned - one.turns.unknown for one in answers)
    progress = 100 * sum(one.turns.progressed for one in answers) / turns if turns else 0.0
    match kind:
        case "propagates":
            share = sum(one.exposed_turns for one in answers) / turns
            firsts = [one.first_damage_turn for one in answers if one.first_damage_turn is not None]
            stalled = sum(one.stalled_since is not None for one in answers)
            end = f", {counted(stalled, 'run')} with nothing new at the end" if stalled else ""
            return f": a damaged image stands after {share:.0%} of the turns, from turn {median(firsts):g} on{end}"
        case "stalls":
            since = [one.stalled_since for one in answers if one.stalled_since is not None]
            if not any(since):
                return ": no new image, the origin stands untouched"
            return f": nothing new since turn {median(since):g}, sound"
        case "goes_on":
            return f": {progress:.0f} new sound images per 100 turns, exposure 0"
        case _:
            return ""
