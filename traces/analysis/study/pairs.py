"""Arms held against each other: to no gate, on both axes, and under other thresholds of `damaged`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import EpisodeCounts, answer_run, with_threshold
from turngate.traces.analysis.statistics import Estimate, adjusted, cluster_mean, sign_flip_p
from turngate.traces.analysis.study.arms import ArmAnswer, run_mean, total
from turngate.traces.analysis.study.loaded import LoadedRun

__all__ = ["ArmDifference", "SensitivityRow", "pair_arms", "sensitivity_at", "unbeaten_arms"]


def unbeaten_arms(arms: Sequence[ArmAnswer]) -> list[str]:
    """Own arms that no other is as good as on both axes and better than on one; the controls are no rivals."""
    placed = [
        (arm.arm, arm.progress.value, arm.exposure.value)
        for arm in arms
        if not arm.control and arm.progress.value is not None and arm.exposure.value is not None
    ]
    return [
        name
        for name, progress, exposure in placed
        if not any(
            (better >= progress and safer <= exposure) and (better > progress or safer < exposure)
            for _, better, safer in placed
        )
    ]


# Against no gate, on the same cells and over the same turns.


class ArmDifference(FrozenModel):
    """An arm minus the arm without a gate, on the same cells and over equal numbers of planned turns."""

    arm: str
    base: str
    """The arm without a gate."""
    cells: int
    """Cells that both arms ran, on one picture, and whose truth is known."""
    turns: list[int]
    """Planned turns that were compared; more than one number where cells differ."""
    progress: Estimate
    """Mean difference of new and sound images per 100 planned turns, -100..100."""
    exposure: Estimate
    """Mean difference of the share of turns after which a damaged image stands, -1..1; negative is better."""
    progress_p: float | None
    """Two-sided, by sign flips of the origins' means; None with few origins, and for controls."""
    exposure_p: float | None
    progress_p_adjusted: float | None
    """Corrected for both axes of all own arms together (Benjamini and Hochberg); controls are in no correction."""
    exposure_p_adjusted: float | None


def pair_arms(by_arm: Mapping[str, Sequence[LoadedRun]], base: Sequence[LoadedRun]) -> list[ArmDifference]:
    """Every other arm against `base`, the runs without a gate; empty without one or without a truth."""
    cells = {one.run.cell: one for one in base if one.answer.known}
    pairs = [_pair(arm, runs, cells) for arm, runs in by_arm.items() if cells and runs[0].run.arm != base[0].run.arm]
    p_values = [p for pair in pairs for p in (pair.progress_p, pair.exposure_p)]
    corrected = adjusted(p_values)
    return [
        pair.model_copy(
            update={"progress_p_adjusted": corrected[2 * index], "exposure_p_adjusted": corrected[2 * index + 1]}
        )
        for index, pair in enumerate(pairs)
    ]


def _pair(arm: str, runs: Sequence[LoadedRun], cells: Mapping[tuple[str, str, str, int], LoadedRun]) -> ArmDifference:
    paired = [
        (one, other)
        for one in runs
        if one.answer.known and (other := cells.get(one.run.cell)) is not None and other.picture == one.picture
    ]
    progress: dict[str, list[float]] = {}
    exposure: dict[str, list[float]] = {}
    compared: set[int] = set()
    for one, other in paired:
        turns = min(one.answer.planned, other.answer.planned)
        compared.add(turns)
        mine, theirs = (
            each.answer if each.answer.planned == turns else answer_run(each.view, turns) for each in (one, other)
        )
        if mine.progress is not None and theirs.progress is not None:
            progress.setdefault(one.cluster, []).append(mine.progress - theirs.progress)
        if mine.exposure is not None and theirs.exposure is not None:
            exposure.setdefault(one.cluster, []).append(mine.exposure - theirs.exposure)
    control = runs[0].run.control
    return ArmDifference(
        arm=arm,
        base=next(iter(cells.values())).run.arm,
        cells=len(paired),
        turns=sorted(compared),
        progress=cluster_mean(progress, (-100.0, 100.0)),
        exposure=cluster_mean(exposure, (-1.0, 1.0)),
        progress_p=None if control else _p(progress),
        exposure_p=None if control else _p(exposure),
        progress_p_adjusted=None,
        exposure_p_adjusted=None,
    )


def _p(groups: Mapping[str, Sequence[float]]) -> float | None:
    return sign_flip_p([sum(values) / len(values) for values in groups.values()])


class SensitivityRow(FrozenModel):
    """The same arm under another threshold of `damaged`."""

    damaged_at: float
    arm: str
    progress: float | None
    """New and sound images per 100 planned turns."""
    exposure: float | None
    """Share of planned turns after which a damaged image stands."""
    stalled: int
    """Runs in which nothing new came at the end; the threshold does not change it."""
    episodes: EpisodeCounts


def sensitivity_at(by_arm: Mapping[str, Sequence[LoadedRun]], damaged_at: float) -> list[SensitivityRow]:
    """Every arm with `damaged` taken anew at another threshold."""
    rows = []
    for arm, runs in by_arm.items():
        answers = [(one, answer_run(with_threshold(one.view, damaged_at))) for one in runs]
        rows.append(
            SensitivityRow(
                damaged_at=damaged_at,
                arm=arm,
                progress=run_mean([(one, answer.progress) for one, answer in answers], (0.0, 100.0)).value,
                exposure=run_mean([(one, answer.exposure) for one, answer in answers], (0.0, 1.0)).value,
                stalled=sum(answer.stalled_since is not None for _, answer in answers),
                episodes=total(EpisodeCounts, [answer.episodes for _, answer in answers]),
            )
        )
    return rows
