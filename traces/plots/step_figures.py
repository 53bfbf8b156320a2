"""How long the runs of each arm stay sound, and how late damage is noticed: shares of runs over turns."""

from __future__ import annotations

from collections.abc import Sequence

from turngate.pages.plots.arm_lines import ArmLine, Around, arm_line_figures
from turngate.pages.plots.plot import Plot
from turngate.pages.plots.sample import control_words, limit_words, runs_of, sample_words
from turngate.pages.report.study.arms import Arm
from turngate.traces.plots._text import name_of
from turngate.traces.report.answer_points import caught_within, survival_points

__all__ = ["delay_plot", "survival_plot"]


def survival_plot(arms: Sequence[Arm], missing: int) -> Plot | None:
    """Share of runs whose image was never damaged so far (Kaplan-Meier); `missing` runs were never begun."""
    known = [arm for arm in arms if arm.answer.soundness.runs]
    if not known:
        return None
    lines = []
    for arm in known:
        turns, shares = survival_points(arm.answer.soundness, max(run.stands[-1].turn for run in arm.runs))
        lines.append(ArmLine(arm, turns, shares))
    note = sample_words(runs_of(known), missing)
    caption = (
        "Kaplan-Meier estimate of the share of runs whose current image was never damaged so far "
        f"({limit_words(known)}). A run that stays sound is censored at its last turn; a rollback does not mend a run. "
        f"{control_words(known)}{note}"
    )
    return Plot(
        name="survival",
        figures=arm_line_figures(
            lines, arms, Around("Runs whose image was never damaged so far", "turn", note, steps=True)
        ),
        caption=caption,
        columns=("arm", "control", "runs", "censored", "turn", "share_sound"),
        rows=[
            (arm.name, arm.answer.control, arm.answer.soundness.runs, arm.answer.soundness.censored, turn, share)
            for arm, line in zip(known, lines, strict=True)
            for turn, share in zip(line.x, line.y, strict=True)
        ],
    )


def delay_plot(arms: Sequence[Arm], missing: int) -> Plot | None:
    """Of the runs that met damage, the share that had kept some out within n turns."""
    met = [arm for arm in arms if _met(arm)]
    if not met:
        return None
    last = max(delay for arm in met for delay in (0, *arm.answer.delays)) + 1
    lines = [
        ArmLine(arm, *caught_within(arm.answer, last), detail=f"{len(arm.answer.delays)} of {_met(arm)} runs")
        for arm in met
    ]
    spared = [name_of(arm.name) for arm in arms if not _met(arm)]
    caught = "; ".join(f"{name_of(line.arm.name)} {line.detail}" for line in lines)
    note = sample_words(runs_of(met), missing)
    note += f" No damaged candidate was met by: {', '.join(spared)}." if spared else ""
    caption = (
        "Detection delay: of the runs that met a damaged candidate, the share that had kept at least one out within n "
        f"turns of the first ({limit_words(met)}). A line that ends below 100 % never caught any in the rest. Runs "
        f"with a catch, of those that met damage: {caught}. "
        f"{control_words(met)}{note}"
    )
    above = "Runs that had kept some damage out, of those that met any"
    return Plot(
        name="delay",
        figures=arm_line_figures(
            lines, arms, Around(above, "turns after the first damaged candidate", note, steps=True)
        ),
        caption=caption,
        columns=("arm", "control", "runs_with_damage", "runs_without_catch", "turns", "share_caught"),
        rows=[
            (arm.name, arm.answer.control, _met(arm), arm.answer.never_detected, turns, share)
            for arm, line in zip(met, lines, strict=True)
            for turns, share in zip(line.x, line.y, strict=True)
        ],
    )


def _met(arm: Arm) -> int:
    """Runs with a damaged candidate."""
    return len(arm.answer.delays) + arm.answer.never_detected
