"""One arm of a study in numbers: counts, survival, sensitivity to the threshold, the difference to no gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import RunMeasures, measure_run, truth_direction, with_threshold
from turngate.traces.analysis.statistics import Estimate, adjusted, bootstrap_ratio, sign_flip_p
from turngate.traces.analysis.study.loaded import LoadedRun, by_origin

__all__ = [
    "ArmAnswer",
    "ArmDifference",
    "CostPoint",
    "SensitivityRow",
    "answer_arm",
    "caught_within",
    "cost_points",
    "pair_arms",
    "sensitivity_at",
    "survival",
    "survival_points",
    "thresholds_of",
]


class Survival(FrozenModel):
    """Kaplan-Meier estimate of the share of runs whose image is still sound."""

    turns: list[int]
    """Turns at which a run's image became damaged, increasing."""
    share: list[float]
    """Share still sound after that turn, 0..1."""
    runs: int
    censored: int
    """Runs that were sound to their last turn."""


def survival(runs: Sequence[RunMeasures]) -> Survival:
    """Turn of the first damaged current image; a run that never has one is censored at its last turn.

    The first time counts, even if a rollback mends it. Runs without a closed turn are left out.
    """
    from scipy.stats import CensoredData, ecdf

    known = [run for run in runs if run.last_turn > 0 and any(sound is not None for sound in run.sound_at)]
    fell = [turn for run in known if (turn := run.first_unsound_turn) is not None]
    lasted = [run.last_turn for run in known if run.first_unsound_turn is None]
    if not fell:
        return Survival(turns=[], share=[], runs=len(known), censored=len(lasted))
    curve = ecdf(CensoredData(uncensored=fell, right=lasted)).sf
    events = sorted(set(fell))
    return Survival(
        turns=events,
        share=[float(value) for value in curve.evaluate(events)],
        runs=len(known),
        censored=len(lasted),
    )


HORIZONS = (5, 10, 20, 50, 100)
"""Turns n for which SR@n and CR@n are reported."""


class ArmAnswer(FrozenModel):
    """One arm over all its runs. Rates are sums over sums; intervals are 95 %, by bootstrap over origins."""

    arm: str
    control: bool
    simulated_runs: int
    """Runs of a simulator: there the damage was written by hand."""
    runs: int
    """Runs that were begun; the aggregates rest on them."""
    statuses: dict[str, int]
    """Runs by status."""
    turns: int
    attempts: int
    catch_rate: Estimate
    """Damaged candidates that were kept out."""
    false_alarm_rate: Estimate
    """Sound candidates that were kept out."""
    propagated_share: Estimate
    """Turns with a new image whose image is damaged."""
    forced_share: Estimate
    """Turns with a new image that the gate had rejected."""
    accepted_share: Estimate
    """Turns that brought a new image."""
    delay: float | None
    """Median turns from the first damaged candidate to the first one kept out, over the runs that kept one out."""
    delays: list[int]
    never_detected: int
    """Runs with damaged candidates of which none was kept out."""
    collapse_turns: list[int]
    """Of the runs that collapsed."""
    collapsed: Estimate
    """Share of runs that collapsed: two damaged accepted turns in a row."""
    success_at: dict[int, Estimate]
    """SR@n: share of runs whose turn n brought a new and sound image. Runs that ended earlier count as no success."""
    collapsed_at: dict[int, Estimate]
    """CR@n: share of runs that collapsed at or before turn n."""
    end_truth: Estimate
    """Mean truth of the image at the end, in the measure's unit."""
    end_damaged: Estimate
    """Share of runs that end with a damaged image."""
    soundness: Survival
    calls_per_sound_turn: float | None
    """Editor calls per turn that brought a new and sound image."""
    usd_per_sound_turn: float | None
    """US dollars per such turn; None where no cost is known."""
    truth_unknown: int
    """Candidates whose truth could not be measured."""
    no_images: int
    """Editor calls that gave no image."""


def answer_arm(arm: str, runs: Sequence[LoadedRun]) -> ArmAnswer:
    """Add up the runs of one arm; `runs` is not empty."""
    groups = by_origin(runs)
    measures = [one.numbers for one in runs]
    summaries = [one.summary for one in measures]
    delays = sorted(delay for one in measures if (delay := one.delay) is not None)
    sound_turns = sum(one.sound_turns for one in measures)
    costs = [one.cost_usd for one in summaries if one.cost_usd is not None]
    statuses: dict[str, int] = defaultdict(int)
    for summary in summaries:
        statuses[summary.status] += 1
    horizons = [n for n in HORIZONS if n <= max(summary.turns_planned for summary in summaries)]
    known = any(summary.truth for summary in summaries)

    def share(of: Callable[[RunMeasures], float], among: Callable[[RunMeasures], float] = lambda one: 1.0) -> Estimate:
        return bootstrap_ratio(groups, of, among) if known else Estimate(value=None, clusters=len(groups))

    ends = by_origin(one for one in runs if one.numbers.summary.final_truth is not None)
    return ArmAnswer(
        arm=arm,
        control=runs[0].run.control,
        simulated_runs=sum(summary.simulated for summary in summaries),
        runs=len(runs),
        statuses=dict(statuses),
        turns=sum(summary.turns for summary in summaries),
        attempts=sum(summary.attempts for summary in summaries),
        catch_rate=share(lambda one: one.summary.caught or 0, lambda one: one.damaged),
        false_alarm_rate=share(lambda one: one.summary.false_alarms or 0, lambda one: one.sound),
        propagated_share=share(
            lambda one: one.summary.propagated or 0,
            lambda one: (one.summary.propagated or 0) + (one.summary.passed or 0),
        ),
        forced_share=bootstrap_ratio(groups, lambda one: one.summary.forced, lambda one: one.taken),
        accepted_share=bootstrap_ratio(groups, lambda one: one.taken, lambda one: one.summary.turns),
        delay=float(median(delays)) if delays else None,
        delays=delays,
        never_detected=sum(one.onset_turn is not None and one.detected_turn is None for one in measures),
        collapse_turns=sorted(one.collapse_turn for one in summaries if one.collapse_turn is not None),
        collapsed=share(lambda one: one.summary.collapse_turn is not None),
        success_at={n: share(partial(_succeeded, turn=n)) for n in horizons},
        collapsed_at={n: share(partial(RunMeasures.collapsed_by, turn=n)) for n in horizons},
        end_truth=bootstrap_ratio(ends, lambda one: one.summary.final_truth or 0.0),
        end_damaged=bootstrap_ratio(ends, lambda one: bool(one.summary.final_damaged)),
        soundness=survival(measures),
        calls_per_sound_turn=sum(one.attempts for one in summaries) / sound_turns if sound_turns else None,
        usd_per_sound_turn=sum(costs) / sound_turns if costs and sound_turns else None,
        truth_unknown=sum(one.truth_unknown or 0 for one in summaries),
        no_images=sum(one.no_images for one in summaries),
    )


def _succeeded(one: RunMeasures, turn: int) -> bool:
    return len(one.success_at) >= turn and one.success_at[turn - 1] is True


class ArmDifference(FrozenModel):
    """An arm against the no-gate arm on the same cells: difference of the truth at the end."""

    arm: str
    cells: int
    """Cells that both arms ran."""
    difference: Estimate
    """Mean of arm minus no-gate, in the measure's unit and its own direction."""
    better: bool | None
    """The difference is for the better."""
    p: float | None
    """Two-sided, sign flips of the origins' means; None with one origin."""
    p_adjusted: float | None
    """Corrected for the number of arms (Benjamini and Hochberg)."""


def pair_arms(
    by_arm: Mapping[str, Sequence[LoadedRun]],
    base: Sequence[LoadedRun],
) -> list[ArmDifference]:
    """Every arm against `base`, the runs of the no-gate arm; empty without one or without a truth."""
    ends = {one.run.cell: end for one in base if (end := one.numbers.summary.final_truth) is not None}
    higher = {truth_direction(one.view) == "higher" for one in base}
    pairs = []
    for arm, runs in by_arm.items():
        if runs is base or not ends:
            continue
        differences: dict[str, list[float]] = defaultdict(list)
        for one in runs:
            end = one.numbers.summary.final_truth
            if one.run.cell in ends and end is not None:
                differences[one.run.origin].append(end - ends[one.run.cell])
        means = [sum(values) / len(values) for values in differences.values()]
        estimate = bootstrap_ratio(differences, lambda value: value)
        better = None if not estimate.value or len(higher) != 1 else (estimate.value > 0) == (True in higher)
        number = sum(len(values) for values in differences.values())
        pairs.append(
            ArmDifference(
                arm=arm, cells=number, difference=estimate, better=better, p=sign_flip_p(means), p_adjusted=None
            )
        )
    corrected = adjusted([pair.p for pair in pairs])
    return [pair.model_copy(update={"p_adjusted": p}) for pair, p in zip(pairs, corrected, strict=True)]


class SensitivityRow(FrozenModel):
    """The same study under another threshold of `damaged`."""

    damaged_at: float
    arm: str
    catch_rate: float | None
    false_alarm_rate: float | None
    propagated_share: float | None
    collapsed: float | None


def sensitivity_at(by_arm: Mapping[str, Sequence[LoadedRun]], damaged_at: float) -> list[SensitivityRow]:
    """Every arm with `damaged` taken anew at another threshold."""
    rows = []
    for arm, runs in by_arm.items():
        again = [measure_run(with_threshold(one.view, damaged_at)) for one in runs]
        caught, alarms, through = (
            sum(getattr(one.summary, field) or 0 for one in again) for field in ("caught", "false_alarms", "propagated")
        )
        passed = sum(one.summary.passed or 0 for one in again)
        collapsed = sum(one.summary.collapse_turn is not None for one in again)
        rows.append(
            SensitivityRow(
                damaged_at=damaged_at,
                arm=arm,
                catch_rate=_share(caught, caught + through),
                false_alarm_rate=_share(alarms, alarms + passed),
                propagated_share=_share(through, through + passed),
                collapsed=_share(collapsed, len(again)),
            )
        )
    return rows


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


# The points that the charts of a study and the plots for papers share.


@dataclass(frozen=True)
class CostPoint:
    """What a turn of an arm costs and brings."""

    cost: float
    """Editor calls, or US dollars, per turn."""
    sound: float
    """New and sound images per turn."""


def survival_points(curve: Survival, last: int) -> tuple[list[int], list[float]]:
    """Turns and shares of the step line from turn 0 to `last`."""
    end = curve.share[-1] if curve.share else 1.0
    tail = [] if curve.turns and curve.turns[-1] >= last else [last]
    return [0, *curve.turns, *tail], [1.0, *curve.share, *[end for _ in tail]]


def caught_within(arm: ArmAnswer, last: int) -> tuple[list[int], list[float]]:
    """Turns after the first damaged candidate, and the share of runs with damage that had kept some out by then.

    Runs that never kept one out count below: the line ends under 1 by their share.
    """
    whole = len(arm.delays) + arm.never_detected
    return list(range(last + 1)), [sum(delay <= turn for delay in arm.delays) / whole for turn in range(last + 1)]


def cost_points(arms: Sequence[ArmAnswer]) -> tuple[str, dict[str, CostPoint]]:
    """Unit of the cost, and the point of every arm with a truth: dollars when every arm has them, else editor calls."""
    priced = all(arm.usd_per_sound_turn is not None for arm in arms)
    points = {}
    for arm in arms:
        if not arm.turns or not arm.soundness.runs:
            continue
        sound = arm.attempts / arm.calls_per_sound_turn if arm.calls_per_sound_turn else 0.0
        cost = arm.usd_per_sound_turn * sound if priced and arm.usd_per_sound_turn is not None else float(arm.attempts)
        points[arm.arm] = CostPoint(cost / arm.turns, sound / arm.turns)
    return ("US dollars" if priced else "editor calls"), points


def thresholds_of(runs: Sequence[LoadedRun]) -> list[float]:
    """Thresholds of damaged that were in force."""
    return sorted({stand.truth.damaged_at for run in runs for stand in run.stands if stand.truth is not None})
