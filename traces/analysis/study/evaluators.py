"""How well an evaluator tells damage: discrimination against the truth, also for scores made after the runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import AliasChoices, Field

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import (
    Counts,
    EvaluatorKey,
    RescoredEvaluator,
    RescoredScores,
    RunView,
)
from turngate.traces.analysis.statistics import Estimate, bootstrap
from turngate.traces.analysis.study.gap import Gap, gaps
from turngate.traces.analysis.study.loaded import LoadedRun, LoadedStudy, by_arm

__all__ = [
    "EvaluatorAnswer",
    "Judged",
    "RescoredEvidence",
    "answer_evaluators",
    "answer_rescored",
    "auc",
    "judged",
    "roc",
    "unreadable_scores",
]


# How well an evaluator tells damaged candidates from sound ones.


@dataclass(frozen=True)
class Judged:
    """One candidate as an evaluator and the truth see it."""

    oriented_score: float
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
    ranks = rankdata([one.oriented_score for one in candidates])
    above = ranks[~damaged].sum() - sound_number * (sound_number + 1) / 2
    return float(above / (sound_number * damaged_number))


def roc(candidates: Sequence[Judged]) -> list[tuple[float, float]]:
    """Points (false-alarm rate, catch rate) over all thresholds, from (0, 0) to (1, 1); empty without both kinds."""
    damaged = sum(one.damaged for one in candidates)
    sound = len(candidates) - damaged
    if not damaged or not sound:
        return []
    points, caught, alarms = [(0.0, 0.0)], 0, 0
    ordered = sorted(candidates, key=lambda one: one.oriented_score)
    for index, one in enumerate(ordered):
        caught += one.damaged
        alarms += not one.damaged
        if index + 1 == len(ordered) or ordered[index + 1].oriented_score != one.oriented_score:
            points.append((alarms / sound, caught / damaged))
    return points


class RescoredEvidence(FrozenModel):
    """How an evaluator scored runs that were there already: no gate saw any of it."""

    type: str
    version: str
    parameters: str
    """SHA-256 of the settings."""
    settings: dict[str, Any]
    images: int
    """Images of all runs: origins, candidates and composites."""
    looked_at: int
    """Of those: with a row, whatever is in it."""
    partial: bool
    """Only some were looked at: the numbers rest on a choice of images."""
    extent: str
    """The same in words."""


class EvaluatorAnswer(FrozenModel):
    """One evaluator against truth, on the runs without a gate if there are any."""

    evaluator: str
    """Its name; one that scored the runs after them says so in it."""
    arm: str
    """Arm whose candidates were looked at, or `all`."""
    auc: Estimate
    """How often a sound candidate scores better than a damaged one; 0.5 is a coin, below it is misled."""
    roc: list[tuple[float, float]]
    """(false-alarm rate, catch rate) over all thresholds."""
    candidates: int
    """With a score and a known truth."""
    of_candidates: int
    """With a known truth: where `candidates` is smaller, the AUC says nothing about the rest."""
    counts: Counts
    """Over all attempts of all arms."""
    gap: Gap
    """The paper's gap over these runs."""
    rescored: RescoredEvidence | None = Field(default=None, validation_alias=AliasChoices("rescored", "afterwards"))
    """Set when the scores were made after the runs."""


def answer_evaluators(
    arms: Mapping[str, Sequence[LoadedRun]],
    base: Sequence[LoadedRun],
) -> list[EvaluatorAnswer]:
    """Every evaluator on the candidates of `base`, the runs of the no-gate arm, or on all when there are none."""
    everything = [one for runs in arms.values() for one in runs]
    looked_at = base or everything
    names = list(dict.fromkeys(name for one in everything for name in one.view.config.evaluators))
    views = {f"{one.run.arm} {one.run.label}": one.view for one in looked_at}
    found = gaps(views, names)
    known = sum(a.truth is not None and a.truth.damaged is not None for one in looked_at for a in one.view.attempts)
    answers = []
    for name in names:
        groups: dict[str, list[Judged]] = defaultdict(list)
        for one in looked_at:
            groups[one.run.origin].extend(judged(one.view, name))
        candidates = [each for group in groups.values() for each in group]
        counts: dict[str, int] = defaultdict(int)
        for one in everything:
            for field, number in one.numbers.summary.counts.get(name, Counts()).model_dump().items():
                counts[field] += number
        answers.append(
            EvaluatorAnswer(
                evaluator=name,
                arm=base[0].run.arm if base else "all",
                auc=bootstrap(groups, auc),
                roc=roc(candidates),
                candidates=len(candidates),
                of_candidates=known,
                counts=Counts(**counts),
                gap=found[name],
            )
        )
    return answers


def answer_rescored(loaded: LoadedStudy, base: Sequence[LoadedRun]) -> list[EvaluatorAnswer]:
    """Every evaluator that scored the runs after them, as by `answer_evaluators`: would it have caught the damage?"""
    if not loaded.rescored_names:
        return []
    keys = {name: key for key, name in loaded.rescored_names.items()}
    arms = by_arm(loaded.rescored_runs)
    answers = answer_evaluators(arms, arms[base[0].run.arm] if base else [])
    read = [run.rescored for run in loaded.runs]
    return [one.model_copy(update={"rescored": _evidence(keys[one.evaluator], read)}) for one in answers]


def unreadable_scores(loaded: LoadedStudy) -> list[str]:
    """One line about each file of scores that cannot be read."""
    return [
        f"{one.run.arm} {one.run.label}: what was scored afterwards is left out: {one.rescored.trouble}"
        for arm in by_arm(loaded.runs).values()
        for one in arm
        if one.rescored.trouble
    ]


def _evidence(key: EvaluatorKey, read: Sequence[RescoredScores]) -> RescoredEvidence:
    mine: list[RescoredEvaluator] = [one for scores in read for one in scores.evaluators if one.key == key]
    images = sum(scores.images for scores in read)
    looked_at = sum(len(one.rows) for one in mine)
    settings = next((dict(one.metadata["settings"]) for one in mine if one.metadata.get("settings")), {})
    runs = f" in {len(mine)} of {len(read)} runs" if len(mine) < len(read) else ""
    extent = f"all {images} images" if looked_at == images else f"{looked_at} of {images} images{runs}"
    return RescoredEvidence(
        type=key[0], version=key[1], parameters=key[2], settings=settings, images=images, looked_at=looked_at,
        partial=looked_at < images, extent=extent,
    )  # fmt: skip
