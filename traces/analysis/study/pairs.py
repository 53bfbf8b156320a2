"""Arms held against each other: to no gate, on both axes, and under other thresholds of `damaged`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turngate.errors import counted
from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import EpisodeCounts, answer_run, run_verdict, seen_by, with_threshold
from turngate.traces.analysis.statistics import Estimate, adjusted, cluster_mean, sign_flip_p
from turngate.traces.analysis.study.arms import ArmAnswer, run_mean, total
from turngate.traces.analysis.study.loaded import LoadedRun, LoadedStudy

__all__ = [
    "ArmDifference",
    "SensitivityRow",
    "TruthDisagreement",
    "disagreements",
    "pair_arms",
    "sensitivity_at",
    "unbeaten_arms",
]


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
    """An arm minus the arm without a gate, on the same cells and over the same number of turns.

    Of recorded chains these are the turns before the point of divergence: what came after it is not known.
    """

    arm: str
    base: str
    """The arm without a gate."""
    cells: int
    """Cells that both arms ran, on one picture, whose truth is known for at least one turn of both."""
    turns: list[int]
    """Turns that were compared; more than one number where cells differ."""
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
        if one.answer.told_turns and other.answer.told_turns
    ]
    progress: dict[str, list[float]] = {}
    exposure: dict[str, list[float]] = {}
    compared: set[int] = set()
    for one, other in paired:
        turns = min(one.answer.told_turns, other.answer.told_turns)
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


# Where two truths of one study disagree.


class TruthDisagreement(FrozenModel):
    """The leading truth against another one, over all candidates that both judged."""

    truth_name: str
    """The leading one."""
    other: str
    candidates: int
    """Different candidates with a known truth by both."""
    both_damaged: int
    both_sound: int
    only_leading: int
    """Damaged by the leading truth alone."""
    only_other: int
    """Damaged by the other alone."""
    runs: list[str]
    """Runs whose verdict differs: `ARM CELL: leading / other`."""
    of_runs: int

    @property
    def words(self) -> str:
        """One sentence."""
        apart = self.only_leading + self.only_other
        verdicts = f"the verdict differs in {len(self.runs)} of {counted(self.of_runs, 'run')}"
        if not self.candidates:
            return f"{self.truth_name} and {self.other} judged no candidate both."
        return (
            f"{self.truth_name} and {self.other} disagree on {apart} of {counted(self.candidates, 'candidate')} "
            f"({self.only_leading} damaged by {self.truth_name} alone, {self.only_other} by {self.other} alone); "
            f"{verdicts}."
        )


def disagreements(loaded: LoadedStudy, others: Sequence[str]) -> list[TruthDisagreement]:
    """One per other truth."""
    return [_disagreement(loaded, other) for other in others]


def _disagreement(loaded: LoadedStudy, other: str) -> TruthDisagreement:
    judged: dict[str, tuple[bool, bool]] = {}
    apart, number = [], 0
    for one in loaded.runs:
        if other not in one.view.truths:
            continue
        number += 1
        for attempt in one.view.attempts:
            row, lead, more = attempt.row, attempt.truth, attempt.more_truths.get(other)
            if row.outcome != "edited" or row.image is None or lead is None or more is None:
                continue
            if lead.damaged is not None and more.damaged is not None:
                judged[f"{one.cluster} {one.run.scenario} {row.image}"] = (lead.damaged, more.damaged)
        mine, theirs = one.summary.verdict, run_verdict(answer_run(seen_by(one.view, other)), one.view.status)
        if mine.kind != theirs.kind:
            apart.append(f"{one.run.arm} {one.run.label}".rstrip() + f": {mine.kind} / {theirs.kind}")
    pairs = list(judged.values())
    return TruthDisagreement(
        truth_name=loaded.truths[0],
        other=other,
        candidates=len(pairs),
        both_damaged=pairs.count((True, True)),
        both_sound=pairs.count((False, False)),
        only_leading=pairs.count((True, False)),
        only_other=pairs.count((False, True)),
        runs=apart,
        of_runs=number,
    )
