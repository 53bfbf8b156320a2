"""One arm of a study in numbers: sound progress, damage exposure, what stalled, and the difference to no gate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import TypeVar

from turngate.errors import counted
from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import (
    VERDICT_WORDS,
    AlarmCount,
    EpisodeCounts,
    RunAnswer,
    TurnCounts,
    VerdictKind,
    goes_on_words,
)
from turngate.traces.analysis.statistics import Estimate, cluster_mean
from turngate.traces.analysis.study.loaded import LoadedRun

__all__ = [
    "MATCHED_EDITS",
    "ArmAnswer",
    "ArmVerdict",
    "FirstDamage",
    "MatchedTruth",
    "answer_arm",
    "arm_verdict",
    "first_damage",
    "run_mean",
    "survival_points",
    "total",
]

MATCHED_EDITS = (1, 5, 10, 20)
"""Accepted edits after which truth is compared: arms that took fewer turns are compared at equal progress."""


class FirstDamage(FrozenModel):
    """Kaplan-Meier estimate of the share of runs in which no damaged image stood yet."""

    turns: list[int]
    """Turns after which a damaged image first stood in some run, increasing."""
    share: list[float]
    """Share without any after that turn, 0..1."""
    runs: int
    never: int
    """Runs in which none is known to have stood; one that ended early is among them: stopping is the gate's doing."""


class MatchedTruth(FrozenModel):
    """Truth of the images that were the n-th accepted edit of their runs."""

    edits: int
    value: float | None
    """Median, in the measure's unit; None where no run has one."""
    runs: int
    """Runs that it rests on."""
    untouched: int
    """Runs whose image is untouched at that point: left out, for its value ends the scale."""


class ArmAnswer(FrozenModel):
    """One arm over all its runs. Every origin weighs the same; intervals are 95 %, from 5 origins on."""

    arm: str
    control: bool
    simulated_runs: int
    """Runs in which what came back was made up: damage written by hand, or a fake server's answers."""
    fake_server_runs: int
    """Those of them in which the shipped fake server answered for the editor or for a judge."""
    runs: int
    """Runs that were begun; the aggregates rest on them."""
    known_runs: int
    """Runs with a truth: the rates rest on them."""
    statuses: dict[str, int]
    """Runs by status."""
    verdict: ArmVerdict
    planned: int
    """Planned turns of all runs."""
    turns: TurnCounts
    """Planned turns of all runs by what they came to."""
    progress: Estimate
    """New and sound images per 100 planned turns, 0..100."""
    different: int
    """Different images among those, per run, of all runs."""
    progress_per_100_calls: Estimate
    """New and sound images per 100 editor calls, 0..100."""
    usd_per_progressed_turn: float | None
    """US dollars per new and sound image, over the runs whose cost is known; None without one or without an image."""
    exposure: Estimate
    """Share of planned turns after which a damaged image stands, 0..1."""
    equal_calls_progress: Estimate
    """New and sound images per 100 calls, over as many calls as turns were planned, 0..100."""
    equal_calls_exposure: Estimate
    """Share of those calls after which a damaged image stands, 0..1."""
    last_new_turns: list[int]
    """Last turn that brought a new image, of every run, sorted; 0 where none did."""
    last_new_turn: float
    """Their median."""
    stalled: int
    """Runs in which nothing new came at the end."""
    episodes: EpisodeCounts
    first_damage: FirstDamage
    alarms: AlarmCount
    """False alarms, once per input."""
    delays: list[int]
    """Turns from an episode's first damaged candidate to the turn that refused all of them, sorted."""
    delay: float | None
    """Their median."""
    never_detected: int
    """Episodes in which no turn refused all damaged candidates."""
    collapse_turns: list[int]
    """Of the runs that collapsed, sorted."""
    recovered: int
    """Runs among those in which a sound image stands again later."""
    new_images: int
    forced: int
    """New images that the gate had rejected."""
    calls: int
    """Editor calls."""
    cost_usd: float | None
    """US dollars; None when no run knows its cost."""
    truth_at: list[MatchedTruth]
    """Truth after the 1st, 5th, 10th and 20th accepted edit."""
    end_truth: float | None
    """Median truth of the last images, over the runs in which something was taken, in the measure's unit."""
    end_untouched: int
    """Runs that end with an untouched image: in no median."""
    end_damaged: int
    """Runs that end with a damaged image."""
    truth_unknown: int
    """Candidates whose truth could not be measured."""
    no_images: int
    """Editor calls that gave no image."""


def answer_arm(arm: str, runs: Sequence[LoadedRun]) -> ArmAnswer:
    """Add up the runs of one arm; `runs` is not empty."""
    answers = [one.answer for one in runs]
    summaries = [one.summary for one in runs]
    known = [one for one in runs if one.answer.known]
    costs = [one.cost_usd for one in summaries if one.cost_usd is not None]
    progressed = sum(one.answer.turns.progressed for one in summaries if one.cost_usd is not None)
    delays = sorted(delay for one in answers for delay in one.delays)
    last = sorted(one.last_new_turn for one in answers)
    ends = [one.final_truth for one in summaries if one.final_truth is not None]

    def mean(of: Callable[[RunAnswer], float | None], highest: float) -> Estimate:
        return run_mean([(run, of(run.answer)) for run in known], (0.0, highest))

    return ArmAnswer(
        arm=arm,
        control=runs[0].run.control,
        simulated_runs=sum(one.simulated for one in summaries),
        fake_server_runs=sum(one.fake_server for one in summaries),
        runs=len(runs),
        known_runs=len(known),
        statuses=dict(Counter(one.status for one in summaries)),
        verdict=arm_verdict(runs),
        planned=sum(one.planned for one in answers),
        turns=total(TurnCounts, [one.turns for one in answers]),
        progress=mean(lambda one: one.progress, 100.0),
        different=sum(one.different for one in answers),
        progress_per_100_calls=mean(lambda one: one.progress_per_100_calls, 100.0),
        usd_per_progressed_turn=sum(costs) / progressed if costs and progressed else None,
        exposure=mean(lambda one: one.exposure, 1.0),
        equal_calls_progress=mean(lambda one: one.equal_calls.progress, 100.0),
        equal_calls_exposure=mean(lambda one: one.equal_calls.exposure, 1.0),
        last_new_turns=last,
        last_new_turn=float(median(last)),
        stalled=sum(one.stalled_since is not None for one in answers),
        episodes=total(EpisodeCounts, [one.episodes for one in answers]),
        first_damage=first_damage([one.answer for one in known]),
        alarms=total(AlarmCount, [one.alarms for one in answers]),
        delays=delays,
        delay=float(median(delays)) if delays else None,
        never_detected=sum(one.never_detected for one in answers),
        collapse_turns=sorted(one.collapse_turn for one in answers if one.collapse_turn is not None),
        recovered=sum(one.recovered_turn is not None for one in answers),
        new_images=sum(one.new_images for one in answers),
        forced=sum(one.forced for one in answers),
        calls=sum(one.calls for one in answers),
        cost_usd=sum(costs) if costs else None,
        truth_at=[_matched(known, edits) for edits in MATCHED_EDITS],
        end_truth=float(median(ends)) if ends else None,
        end_untouched=sum(one.final_untouched for one in summaries),
        end_damaged=sum(one.final_damaged is True for one in summaries),
        truth_unknown=sum(one.truth_unknown for one in summaries),
        no_images=sum(one.no_images for one in summaries),
    )


def run_mean(values: Iterable[tuple[LoadedRun, float | None]], bounds: tuple[float, float]) -> Estimate:
    """Mean over origins of the runs' values; runs without a value are left out."""
    groups: dict[str, list[float]] = defaultdict(list)
    for run, value in values:
        if value is not None:
            groups[run.cluster].append(value)
    return cluster_mean(groups, bounds)


_C = TypeVar("_C", TurnCounts, EpisodeCounts, AlarmCount)


def total(kind: type[_C], counts: Sequence[_C]) -> _C:
    """Counts added up, field by field."""
    return kind(**{name: sum(getattr(one, name) for one in counts) for name in kind.model_fields})


def first_damage(answers: Sequence[RunAnswer]) -> FirstDamage:
    """Turn after which a damaged image first stood; a run without one is censored at its horizon, or where its recorded
    chain diverged.

    The first time counts, even if a rollback mends it. A run that ended early is carried to its planned turns: what
    stood at its end still stands then.
    """
    from scipy.stats import CensoredData, ecdf

    known = [one for one in answers if one.told_turns > 0]
    fell = [one.first_damage_turn for one in known if one.first_damage_turn is not None]
    lasted = [one.told_turns for one in known if one.first_damage_turn is None]
    if not fell:
        return FirstDamage(turns=[], share=[], runs=len(known), never=len(lasted))
    curve = ecdf(CensoredData(uncensored=fell, right=lasted)).sf
    events = sorted(set(fell))
    share = [float(value) for value in curve.evaluate(events)]
    return FirstDamage(turns=events, share=share, runs=len(known), never=len(lasted))


def survival_points(curve: FirstDamage, last: int) -> tuple[list[int], list[float]]:
    """Turns and shares of the step line from turn 0 to `last`."""
    end = curve.share[-1] if curve.share else 1.0
    tail = [] if curve.turns and curve.turns[-1] >= last else [last]
    return [0, *curve.turns, *tail], [1.0, *curve.share, *[end for _ in tail]]


def _matched(runs: Sequence[LoadedRun], edits: int) -> MatchedTruth:
    reached = [
        run.stands[turns[edits - 1]]
        for run in runs
        if len(turns := [result.turn for result in run.turns if result.new]) >= edits
    ]
    values = [value for stand in reached if (value := stand.truth_value) is not None]
    return MatchedTruth(
        edits=edits,
        value=float(median(values)) if values else None,
        runs=len(values),
        untouched=sum(stand.untouched for stand in reached),
    )


# The verdict of an arm: how many of its runs came to what.


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
        members = [one for one in runs if one.summary.verdict.kind == kind]
        share = (
            f"in all {counted(number, 'run')}" if number == len(runs) else f"in {number} of {counted(len(runs), 'run')}"
        )
        parts.append(f"{_kind_words(kind, [one.answer for one in members])} {share}{_details(kind, members)}")
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


def _details(kind: VerdictKind, runs: Sequence[LoadedRun]) -> str:
    """The numbers behind the word, each origin with the same weight as in the table."""
    answers = [one.answer for one in runs]
    match kind:
        case "propagates":
            share = run_mean([(one, one.answer.exposure) for one in runs], (0.0, 1.0)).value or 0.0
            firsts = [one.first_damage_turn for one in answers if one.first_damage_turn is not None]
            stalled = sum(one.stalled_since is not None for one in answers)
            end = f", {counted(stalled, 'run')} with nothing new at the end" if stalled else ""
            first = f"from turn {median(firsts):g} on"
            return f": a damaged image stands after {100 * share:.0f} % of the turns, {first}{end}"
        case "stalls":
            since = [one.stalled_since for one in answers if one.stalled_since is not None]
            if not any(since):
                return ": no new image, the origin stands untouched"
            return f": nothing new since turn {median(since):g}, sound"
        case "goes_on":
            progress = run_mean([(one, one.answer.progress) for one in runs], (0.0, 100.0)).value or 0.0
            return f": {progress:.0f} new sound images per 100 turns, exposure 0"
        case _:
            return ""
