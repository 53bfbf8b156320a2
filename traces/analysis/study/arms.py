"""One arm of a study in numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.measured import Measured, by_origin
from turngate.traces.analysis.run_measures import RunMeasures
from turngate.traces.analysis.study.statistics import Estimate, bootstrap_ratio
from turngate.traces.analysis.survival import Survival, survival

__all__ = ["HORIZONS", "ArmAnswer", "answer_arm"]

HORIZONS = (5, 10, 20, 50, 100)
"""Turns at which SR@n and CR@n are told."""


class ArmAnswer(BaseModel):
    """One arm over all its runs. Rates are sums over sums; intervals are 95 %, by bootstrap over origins."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    arm: str
    control: bool
    simulated_runs: int
    """Runs of a simulator: there the damage was written by hand."""
    runs: int
    """Runs that were begun; the aggregates rest on them."""
    statuses: dict[str, int]
    """How they stand."""
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


def answer_arm(arm: str, runs: Sequence[Measured]) -> ArmAnswer:
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
