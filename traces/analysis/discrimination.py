"""How well an evaluator tells damaged candidates from sound ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from turngate.traces.analysis.run.run_view import RunView

__all__ = ["Judged", "auc", "judged", "roc"]


@dataclass(frozen=True)
class Judged:
    """One candidate as an evaluator and the truth see it."""

    goodness: float
    """Score in better units: larger is better."""
    damaged: bool


def judged(run: RunView, evaluator: str) -> Iterable[Judged]:
    """Every candidate with a score of `evaluator` and a known truth, once per attempt."""
    for attempt in run.attempts:
        score = attempt.scores.get(evaluator)
        if score is None or score.value is None or attempt.truth is None or attempt.truth.damaged is None:
            continue
        sign = 1.0 if score.direction == "higher" else -1.0
        yield Judged(sign * score.value, attempt.truth.damaged)


def auc(candidates: Sequence[Judged]) -> float | None:
    """Area under the ROC curve: how often a sound candidate scores better than a damaged one, ties half.

    Mann-Whitney U over the number of pairs. 1 is perfect, 0.5 a coin, 0 perfectly wrong. None without both kinds.
    """
    from scipy.stats import rankdata

    damaged = np.array([one.damaged for one in candidates], dtype=bool)
    sound_number, damaged_number = int((~damaged).sum()), int(damaged.sum())
    if not sound_number or not damaged_number:
        return None
    ranks = rankdata([one.goodness for one in candidates])
    above = ranks[~damaged].sum() - sound_number * (sound_number + 1) / 2
    return float(above / (sound_number * damaged_number))


def roc(candidates: Sequence[Judged]) -> list[tuple[float, float]]:
    """Points (false-alarm rate, catch rate) over all thresholds, from (0, 0) to (1, 1); empty without both kinds."""
    damaged = sum(one.damaged for one in candidates)
    sound = len(candidates) - damaged
    if not damaged or not sound:
        return []
    points, caught, alarms = [(0.0, 0.0)], 0, 0
    ordered = sorted(candidates, key=lambda one: one.goodness)
    for index, one in enumerate(ordered):
        caught += one.damaged
        alarms += not one.damaged
        if index + 1 == len(ordered) or ordered[index + 1].goodness != one.goodness:
            points.append((alarms / sound, caught / damaged))
    return points
