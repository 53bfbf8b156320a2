"""What the gate of a run did: propagated damage, caught it and went on, or caught it by stopping the loop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run.episodes import (
    AlarmCount,
    DamageEpisode,
    EpisodeEnd,
    damage_episodes,
    false_alarms,
)
from turngate.traces.analysis.run.run_view import RunView, attempt_views
from turngate.traces.analysis.run.turns import Stretch, TurnResult, stretch_of, turn_results
from turngate.traces.records import AttemptRecord

__all__ = [
    "EpisodeCounts",
    "EqualCalls",
    "RunAnswer",
    "TurnCounts",
    "answer_records",
    "answer_run",
    "answer_stretch",
    "stall_window",
]


class TurnCounts(FrozenModel):
    """Planned turns by what they came to; every turn is in exactly one of these."""

    progressed: int = 0
    propagated_fresh: int = 0
    propagated_inherited: int = 0
    held_sound: int = 0
    held_damaged: int = 0
    went_back_sound: int = 0
    went_back_damaged: int = 0
    no_change: int = 0
    not_reached: int = 0
    unknown: int = 0

    @property
    def propagated(self) -> int:
        """Turns that took a damaged image."""
        return self.propagated_fresh + self.propagated_inherited

    @classmethod
    def of(cls, results: Sequence[TurnResult]) -> TurnCounts:
        """Count."""
        counts = dict.fromkeys(cls.model_fields, 0)
        for one in results:
            match one.result:
                case "propagated":
                    counts[f"propagated_{one.source}"] += 1
                case "held" | "went_back":
                    counts[f"{one.result}_{'damaged' if one.damaged else 'sound'}"] += 1
                case other:
                    counts[other] += 1
        return cls(**counts)


class EpisodeCounts(FrozenModel):
    """Damage episodes by how they ended."""

    caught: int = 0
    """Another image came to stand: the loop went on."""
    stalled: int = 0
    """Caught, and nothing came after it until the horizon."""
    propagated: int = 0
    open: int = 0
    """Not told: the run is at work, or what came next is not known. In no rate."""

    @property
    def total(self) -> int:
        """Episodes whose end is known."""
        return self.caught + self.stalled + self.propagated

    @classmethod
    def of(cls, episodes: Sequence[DamageEpisode]) -> EpisodeCounts:
        """Count."""
        ends: dict[EpisodeEnd, int] = {"caught": 0, "stalled": 0, "propagated": 0, "open": 0}
        for one in episodes:
            ends[one.end] += 1
        return cls.model_validate(ends)


class EqualCalls(FrozenModel):
    """The two axes over as many editor calls as turns were planned: what a gate with one call per turn could spend."""

    calls: int
    """Budget of calls; the planned turns."""
    progress: float | None
    """New sound images per 100 calls of the budget; those of unknown turns are left out."""
    exposure: float | None
    """Share of the budget's calls after which a damaged image stands, 0..1. After the last call the last one stands."""


class RunAnswer(FrozenModel):
    """One run in numbers. Everything is by planned turn unless it says otherwise."""

    planned: int
    """Turns that have a result: all planned ones, or those closed so far of a run that is at work."""
    going_on: bool
    """The run is at work, or the record ends where another gate would have gone on: told so far."""
    known: bool
    """The truth of some standing image was measured; without one there are no rates and no episodes."""
    turns: TurnCounts
    progress: float | None
    """New and sound images per 100 planned turns, 0..100. Unknown turns are left out."""
    different: int
    """Different images among those (by bytes): an editor that repeats itself brings the same one again."""
    progress_per_100_calls: float | None
    """New and sound images per 100 editor calls; None without a call. Calls of unknown turns are left out."""
    exposure: float | None
    """Share of planned turns after which a damaged image stands, 0..1. Turns with an unknown truth are left out."""
    exposed_turns: int
    """Turns after which a damaged image stands."""
    equal_calls: EqualCalls
    new_images: int
    """Turns that took a new image, whatever its truth."""
    forced: int
    """Of those: the gate had rejected the image."""
    last_new_turn: int
    """Last turn that took a new image; 0 when none did."""
    stalled_since: int | None
    """`last_new_turn` when nothing new came in the last `stall_window` turns; None when the run did not stall, and when
    its end is not known: it is at work, or the record went another way."""
    episodes: EpisodeCounts
    first_damage_turn: int | None
    """First turn after which a damaged image stands."""
    last_damage_turn: int | None
    """Last turn after which a damaged image stands."""
    alarms: AlarmCount
    """False alarms, once per input."""
    delays: list[int]
    """Turns from an episode's first damaged candidate to the turn that refused all; of the episodes that have one."""
    never_detected: int
    """Episodes without such a turn."""
    collapse_turn: int | None
    """Second of the first two turns in a row after which a damaged image stands."""
    recovered_turn: int | None
    """First turn after the collapse after which a sound image stands; None when none does."""
    calls: int
    """Editor calls."""
    diverged_turn: int | None
    """First turn beyond the point of divergence of a recorded chain; nothing is known from there on."""

    @property
    def told_turns(self) -> int:
        """Turns up to the point of divergence of a recorded chain; all of them where it never diverged."""
        return self.planned if self.diverged_turn is None else self.diverged_turn - 1

    @property
    def ended_at(self) -> int | None:
        """Last turn that the run reached, when it ended before its planned turns; None when it did not."""
        return self.planned - self.turns.not_reached if self.turns.not_reached else None


def stall_window(planned: int) -> int:
    """Turns without a new image that make a stall: 20 % of the planned turns, at least 10, at most all of them."""
    return min(planned, max(10, math.ceil(planned / 5)))


def answer_run(run: RunView, turns: int | None = None) -> RunAnswer:
    """Count over a whole run, or over its first `turns` planned turns."""
    return answer_stretch(stretch_of(run, turns))


def answer_records(run: RunView, records: Sequence[AttemptRecord], turns: int) -> RunAnswer:
    """Count over the first `turns` turns of `run` with other decisions: `records` are what a replay made of them.

    Where the replay ends before the run's planned turns the answer is told so far.
    """
    going_on = turns < run.config.turns
    return answer_stretch(Stretch(run.info.origin.image, run.baseline_truth, attempt_views(records), turns, going_on))


def answer_stretch(stretch: Stretch) -> RunAnswer:
    """Count over attempts: of a run, or of what another gate would have made of its record."""
    results = turn_results(stretch)
    episodes = damage_episodes(stretch, results)
    counts = TurnCounts.of(results)
    planned, calls = len(results), len(stretch.attempts)
    known = stretch.known and counts.unknown < planned
    counted = planned - counts.unknown
    counted_calls = calls - sum(one.calls for one in results if one.result == "unknown")
    standing = [one for one in results if one.damaged is not None and one.result != "unknown"]
    exposed = [one.turn for one in standing if one.damaged]
    last_new = max((one.turn for one in results if one.new), default=0)
    collapse, recovered = _collapse(results)
    told = bool(results) and not stretch.going_on and not results[-1].beyond
    stalled = told and planned - last_new >= stall_window(planned)
    return RunAnswer(
        planned=planned,
        going_on=stretch.going_on,
        known=known,
        turns=counts,
        progress=100 * counts.progressed / counted if known and counted else None,
        different=len({one.image for one in results if one.result == "progressed"}),
        progress_per_100_calls=100 * counts.progressed / counted_calls if known and counted_calls else None,
        exposure=len(exposed) / len(standing) if known and standing else None,
        exposed_turns=len(exposed),
        equal_calls=_equal_calls(stretch, results, known),
        new_images=sum(one.new for one in results),
        forced=sum(one.forced for one in results),
        last_new_turn=last_new,
        stalled_since=last_new if stalled else None,
        episodes=EpisodeCounts.of(episodes),
        first_damage_turn=min(exposed, default=None),
        last_damage_turn=max(exposed, default=None),
        alarms=false_alarms(stretch.attempts),
        delays=sorted(delay for one in episodes if (delay := one.delay) is not None),
        never_detected=sum(one.detected is None for one in episodes if one.end != "open"),
        collapse_turn=collapse,
        recovered_turn=recovered,
        calls=calls,
        diverged_turn=next((one.turn for one in results if one.beyond), None),
    )


def _collapse(results: Sequence[TurnResult]) -> tuple[int | None, int | None]:
    collapse = next((second.turn for first, second in pairwise(results) if first.damaged and second.damaged), None)
    if collapse is None:
        return None, None
    return collapse, next((one.turn for one in results if one.turn > collapse and one.damaged is False), None)


def _equal_calls(stretch: Stretch, results: Sequence[TurnResult], known: bool) -> EqualCalls:
    budget = stretch.planned
    if not known or not budget or not results:
        return EqualCalls(calls=budget, progress=None, exposure=None)
    by_turn = {one.turn: one for one in results}
    damaged: bool | None = stretch.origin_damaged
    after: list[bool | None] = []
    progressed = unknown = 0
    for attempt in stretch.attempts[:budget]:
        result = by_turn.get(attempt.row.turn)  # none yet of the turn that a run at work is in
        if result is not None and attempt.decision.closes_turn:
            damaged = result.damaged
            progressed += result.result == "progressed"
        unknown += result is not None and result.result == "unknown"
        after.append(damaged)
    spent = len(after)
    if stretch.going_on:
        budget = spent
    after += [damaged] * (budget - spent)
    unknown += budget - spent if results[-1].beyond else 0
    told = [one for one in after if one is not None]
    return EqualCalls(
        calls=budget,
        progress=100 * progressed / (budget - unknown) if budget > unknown else None,
        exposure=sum(told) / len(told) if told else None,
    )
