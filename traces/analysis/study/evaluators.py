"""How well an evaluator tells damage: on runs without a gate, within each run, for each editor by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import AliasChoices, Field

from turngate.errors import counted
from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import (
    Counts,
    EvaluatorKey,
    RescoredEvaluator,
    RescoredScores,
    RunView,
)
from turngate.traces.analysis.statistics import Estimate, cluster_mean
from turngate.traces.analysis.study.gap import Gap, gaps
from turngate.traces.analysis.study.loaded import LoadedRun, LoadedStudy, by_arm
from turngate.traces.position_bias import PositionBias

__all__ = [
    "ALL_EDITORS",
    "EditorDiscrimination",
    "EvaluatorAnswer",
    "Judged",
    "RescoredEvidence",
    "answer_evaluators",
    "answer_rescored",
    "auc",
    "judged",
    "mean_roc",
    "roc",
    "unreadable_scores",
]


@dataclass(frozen=True)
class Judged:
    """One candidate as an evaluator and the truth see it."""

    oriented_score: float
    """Score in better units: larger is better."""
    damaged: bool


def judged(run: RunView, evaluator: str) -> Iterable[Judged]:
    """Every new candidate with a score of `evaluator` and a known truth.

    An image counts once: what is byte-identical to the origin, to its input or to an earlier candidate is left out,
    and so is what lies beyond the point of divergence of a recorded chain.
    """
    seen: set[str | None] = {run.info.origin.image}
    for attempt in run.attempts:
        row, truth, score = attempt.row, attempt.truth, attempt.scores.get(evaluator)
        if row.outcome != "edited" or row.beyond_divergence or row.image in seen:
            continue
        seen.add(row.image)
        if score is None or score.value is None or truth is None or truth.damaged is None:
            continue
        sign = 1.0 if score.direction == "higher" else -1.0
        yield Judged(sign * score.value, truth.damaged)


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


Roc = list[tuple[float, float]]
"""Points (false-alarm rate, catch rate), from (0, 0) to (1, 1)."""


def roc(candidates: Sequence[Judged]) -> Roc:
    """The curve over all thresholds; empty without both kinds."""
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


def mean_roc(curves: Sequence[Roc]) -> Roc:
    """Vertical average of curves (Fawcett, Pattern Recognition Letters 27, 2006): its area is the mean of theirs.

    Each false-alarm rate at which some curve has a corner is looked at from both sides, so steps stay steps.
    """
    known = [curve for curve in curves if curve]
    if not known:
        return []
    corners = sorted({x for curve in known for x, _ in curve})
    points: Roc = []
    for x in corners:
        for right in (False, True):
            point = (x, float(np.mean([_height(curve, x, right) for curve in known])))
            if not points or points[-1] != point:
                points.append(point)
    return points


def _height(curve: Roc, x: float, right: bool) -> float:
    """Catch rate at false-alarm rate `x`: the upper end of a step seen from the right, the lower from the left."""
    at = [y for corner, y in curve if corner == x]
    if at:
        return max(at) if right else min(at)
    before = max((point for point in curve if point[0] < x), key=lambda point: (point[0], point[1]))
    after = min((point for point in curve if point[0] > x), key=lambda point: (point[0], point[1]))
    return before[1] + (after[1] - before[1]) * (x - before[0]) / (after[0] - before[0])


ALL_EDITORS = "all editors"
"""Name of the row that is the mean of the editors'."""


class EditorDiscrimination(FrozenModel):
    """How well an evaluator tells damage in one editor's runs."""

    editor: str
    """Name in the study, or `ALL_EDITORS`: the mean of the editors, never a pool of their candidates."""
    auc: Estimate
    """Area under the ROC curve within a run, averaged over the runs of an origin, then over origins, 0..1."""
    runs: int
    """Runs with both sound and damaged candidates: the area rests on them."""
    of_runs: int
    damaged: int
    """Damaged candidates with a score, over all runs."""
    sound: int
    """Sound ones."""
    roc: Roc
    """Vertical mean over origins of the vertical mean of each origin's runs; for all editors, mean of the editors'."""


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
    """One evaluator against truth, on the runs without a gate."""

    evaluator: str
    """Its name; one that scored the runs after them says so in it."""
    arm: str | None
    """Arm without a gate whose candidates were looked at; None when the study has none: then nothing is told."""
    editors: list[EditorDiscrimination]
    """Every editor by itself, then all (where there are several); empty where nothing is told."""
    given_origin: bool
    """It was shown the origin, as a truth that compares with it was: its area says less."""
    like_truth: bool
    """It is, or is made of, what the truth is measured by: its area is no merit."""
    candidates: int
    """Different candidates with a score and a known truth, in the runs without a gate."""
    of_candidates: int
    """Different candidates with a known truth."""
    counts: Counts
    """Over all attempts of all arms."""
    gap: Gap
    """The paper's gap, over the runs without a gate in which truth fell."""
    other_size: int = 0
    """Its scores without a reference of images of another size than the origin's: they compare less well."""
    position_bias: PositionBias | None = None
    """Of a pairwise judge: which place its answers name, over all attempts of all arms."""
    rescored: RescoredEvidence | None = Field(default=None, validation_alias=AliasChoices("rescored", "afterwards"))
    """Set when the scores were made after the runs."""

    @property
    def overall(self) -> EditorDiscrimination | None:
        """The row over all editors; the only editor's where there is one."""
        return self.editors[-1] if self.editors else None


def answer_evaluators(arms: Mapping[str, Sequence[LoadedRun]], base: Sequence[LoadedRun]) -> list[EvaluatorAnswer]:
    """Every evaluator on the candidates of `base`, the runs without a gate; without any nothing is told of it."""
    everything = [one for runs in arms.values() for one in runs]
    names = list(dict.fromkeys(name for one in everything for name in one.view.config.evaluators))
    found = gaps({f"{one.run.arm} {one.run.label}": one.view for one in base}, names)
    return [_answer(name, everything, base, found[name]) for name in names]


def _answer(name: str, everything: Sequence[LoadedRun], base: Sequence[LoadedRun], gap: Gap) -> EvaluatorAnswer:
    editors: dict[str, list[LoadedRun]] = defaultdict(list)
    for one in base:
        if name in one.view.config.evaluators:
            editors[one.run.editor or one.view.config.editor.type].append(one)
    looked = [_editor(editor, runs, name) for editor, runs in editors.items()]
    rows = [one.row for one in looked] + ([_all_editors(looked)] if len(looked) > 1 else [])
    counts: dict[str, int] = defaultdict(int)
    for one in everything:
        for field, number in one.summary.counts.get(name, Counts()).model_dump().items():
            counts[field] += number
    parts = [one.view.config.evaluators[name] for one in everything if name in one.view.config.evaluators]
    kinds = {kind for part in parts for kind in _types(part.as_mapping())}
    measures = {one.view.baseline_truth.measure for one in everything if one.view.baseline_truth is not None}
    return EvaluatorAnswer(
        evaluator=name,
        arm=base[0].run.arm if base else None,
        editors=rows,
        given_origin=any(_given_origin(one.view, name) for one in everything),
        like_truth=bool(kinds & measures),
        candidates=sum(one.damaged + one.sound for one in rows if one.editor != ALL_EDITORS),
        of_candidates=sum(_with_truth(one.view) for one in base),
        counts=Counts(**counts),
        gap=gap,
        other_size=sum(one.summary.other_size.get(name, 0) for one in everything),
        position_bias=_position_bias(name, everything),
    )


def _position_bias(name: str, runs: Sequence[LoadedRun]) -> PositionBias | None:
    found = [bias for one in runs if (bias := one.summary.position_bias.get(name)) is not None]
    return sum(found, PositionBias()) if found else None


@dataclass(frozen=True)
class _Looked:
    """One editor's runs through one evaluator's eyes."""

    row: EditorDiscrimination
    areas: dict[str, float]
    """Origin -> mean area of its runs."""


def _editor(editor: str, runs: Sequence[LoadedRun], name: str) -> _Looked:
    looked_at = [(one.cluster, list(judged(one.view, name))) for one in runs]
    areas: dict[str, list[float]] = defaultdict(list)
    curves: dict[str, list[Roc]] = defaultdict(list)
    for cluster, candidates in looked_at:
        if (area := auc(candidates)) is not None:
            areas[cluster].append(area)
            curves[cluster].append(roc(candidates))
    damaged = sum(each.damaged for _, candidates in looked_at for each in candidates)
    row = EditorDiscrimination(
        editor=editor,
        auc=cluster_mean(areas, (0.0, 1.0)),
        runs=sum(map(len, areas.values())),
        of_runs=len(runs),
        damaged=damaged,
        sound=sum(len(candidates) for _, candidates in looked_at) - damaged,
        roc=mean_roc([mean_roc(of_origin) for of_origin in curves.values()]),
    )
    return _Looked(row, {cluster: sum(found) / len(found) for cluster, found in areas.items()})


def _all_editors(editors: Sequence[_Looked]) -> EditorDiscrimination:
    """The mean of the editors' rows, with an interval over origins."""
    rows = [one.row for one in editors]
    return EditorDiscrimination(
        editor=ALL_EDITORS,
        auc=_mean_of_editors([one.areas for one in editors if one.areas]),
        runs=sum(row.runs for row in rows),
        of_runs=sum(row.of_runs for row in rows),
        damaged=sum(row.damaged for row in rows),
        sound=sum(row.sound for row in rows),
        roc=mean_roc([row.roc for row in rows]),
    )


def _mean_of_editors(editors: Sequence[Mapping[str, float]]) -> Estimate:
    """Mean of the editors' means; `editors` are areas by origin.

    Each origin weighs what its areas weigh in that mean: then the mean over origins is the mean of the editors', and
    the interval is around it also where editors ran on different origins. Where they ran on the same ones, an origin's
    number is the mean of its areas.
    """
    origins = sorted({origin for areas in editors for origin in areas})
    weights = {
        origin: [len(origins) / (len(editors) * len(areas)) for areas in editors if origin in areas]
        for origin in origins
    }
    found = {origin: [areas[origin] for areas in editors if origin in areas] for origin in origins}
    highest = max((sum(shares) for shares in weights.values()), default=1.0)
    weighted = {
        origin: [sum(share * area for share, area in zip(weights[origin], found[origin], strict=True))]
        for origin in origins
    }
    estimate = cluster_mean(weighted, (0.0, max(1.0, highest)))
    plain = {origin: sum(areas) / len(areas) for origin, areas in found.items()} if estimate.by_origin else {}
    top = None if estimate.high is None else min(1.0, estimate.high)
    return estimate.model_copy(update={"high": top, "by_origin": plain})


def _given_origin(run: RunView, name: str) -> bool:
    facts, part = run.info.resolved.evaluators.get(name), run.config.evaluators.get(name)
    if facts is not None and facts.inputs:
        return "origin" in facts.inputs
    # turngate 0.1.0 recorded no inputs: the settings say what an image is held against.
    return part is not None and "origin" in (part.settings.get("against"), part.settings.get("reference"))


def _types(part: Mapping[str, Any]) -> Iterator[str]:
    """Type of an evaluator and of those that it is made of."""
    yield str(part.get("type", ""))
    for member in (part.get("members") or {}).values():
        yield from _types(member)


def _with_truth(run: RunView) -> int:
    images = {
        attempt.row.image
        for attempt in run.attempts
        if attempt.row.outcome == "edited"
        and not attempt.row.beyond_divergence
        and attempt.truth is not None
        and attempt.truth.damaged is not None
    }
    return len(images - {run.info.origin.image})


def answer_rescored(loaded: LoadedStudy, base: str | None) -> list[EvaluatorAnswer]:
    """Every evaluator that scored the runs after them, as by `answer_evaluators`: would it have told the damage?"""
    if not loaded.rescored_names:
        return []
    keys = {name: key for key, name in loaded.rescored_names.items()}
    arms = by_arm(loaded.rescored_runs)
    answers = answer_evaluators(arms, arms.get(base, []) if base is not None else [])
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
    runs = f" in {len(mine)} of {counted(len(read), 'run')}" if len(mine) < len(read) else ""
    extent = (
        f"all {counted(images, 'image')}" if looked_at == images else f"{looked_at} of {counted(images, 'image')}{runs}"
    )
    return RescoredEvidence(
        type=key[0], version=key[1], parameters=key[2], settings=settings, images=images, looked_at=looked_at,
        partial=looked_at < images, extent=extent,
    )  # fmt: skip
