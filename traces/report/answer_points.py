"""The points that the charts of a study and the plots for papers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turngate.traces.analysis.study.arms import ArmAnswer
from turngate.traces.analysis.study.loaded import LoadedRun
from turngate.traces.analysis.survival import Survival

__all__ = ["CostPoint", "caught_within", "cost_points", "survival_points", "thresholds_of"]


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
