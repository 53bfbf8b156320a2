"""The tables of a study's answer in words, for the terminal and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turngate.errors import counted
from turngate.traces.analysis.statistics import how_simulated

if TYPE_CHECKING:
    from turngate.traces.analysis.statistics import Estimate
    from turngate.traces.analysis.study.answer import StudyAnswer, TruthAnswer
    from turngate.traces.analysis.study.arms import ArmAnswer
    from turngate.traces.analysis.study.evaluators import EvaluatorAnswer

__all__ = [
    "TableRows",
    "arm_legend",
    "arm_rows",
    "difference_rows",
    "evaluator_rows",
    "failure_rows",
    "matched_rows",
    "p_words",
    "reasoning_rows",
    "sensitivity_rows",
    "study_truth_words",
    "verdict_lines",
]

TableRows = list[dict[str, str]]
"""Rows of a table: column -> words."""


def verdict_lines(answer: TruthAnswer) -> list[str]:
    """The verdict of every arm, one sentence each; controls are marked."""
    return [f"{arm.arm}{' *' if arm.control else ''} {arm.verdict.words}" for arm in answer.arms]


def study_truth_words(answer: TruthAnswer) -> str:
    """How truth was measured, and which way is better."""
    if not answer.truth:
        return "Truth: not measured, so nothing is told of damage."
    name = "" if answer.truth_name == "truth" else f" ({answer.truth_name})"
    better = f"; {answer.truth_better} is better" if answer.truth_better else ""
    return f"Truth{name}: {'; '.join(answer.truth)}{better}."


def arm_legend(answer: TruthAnswer) -> str:
    """What the columns of the arms' table mean, and which arms are not beaten."""
    single = all(arm.runs == 1 for arm in answer.arms)
    controls = "* control. " if any(arm.control for arm in answer.arms) else ""
    intervals = "" if single else _intervals(answer)
    unbeaten = f" No own arm is better on both axes than {', '.join(answer.unbeaten)}." if answer.unbeaten else ""
    return (
        f"{controls}progress: new sound images per 100 planned turns; exposure: share of turns after which a damaged "
        f"image stands; episodes: caught / stalled / propagated.{intervals}{unbeaten}"
    )


def _intervals(answer: TruthAnswer) -> str:
    clusters = max((arm.progress.clusters for arm in answer.arms), default=0)
    if any(arm.progress.low is not None for arm in answer.arms):
        return f" [95 % interval over {counted(clusters, 'origin')}]."
    return f" {counted(clusters, 'origin')}: too few for intervals and p, see each origin on the page."


def p_words(answer: StudyAnswer) -> str:
    """What the p values are corrected for, and the smallest that can be reached; empty where there are none."""
    if answer.smallest_p is None or answer.smallest_p_alone is None:
        return ""
    return (
        f"p: sign flips over {counted(answer.origins, 'origin')}, corrected over "
        f"{counted(answer.tests, 'test')} (both axes of the own arms)."
        f" The smallest p that can be reached is {answer.smallest_p:.2g}; for one difference alone it is "
        f"{answer.smallest_p_alone:.2g} after the correction."
    )


# Rows of the tables, in the order that an answer has.


def arm_rows(arms: Sequence[ArmAnswer]) -> TableRows:
    """Sound progress, exposure, last new image, episodes, first damage, false alarms, delay, collapse, calls, cost."""
    several = any(arm.runs > 1 for arm in arms)
    priced = any(arm.cost_usd is not None for arm in arms)
    return [_arm_row(arm, several, priced) for arm in arms]


def _arm_row(arm: ArmAnswer, several: bool, priced: bool) -> dict[str, str]:
    row = {"arm": arm.arm + (" *" if arm.control else "")}
    if several:
        row["runs"] = str(arm.runs)
    row["progress"] = _number(arm.progress)
    row["per 100 calls"] = _number(arm.progress_per_100_calls)
    if priced:
        row["$ per image"] = "-" if arm.usd_per_progressed_turn is None else f"{arm.usd_per_progressed_turn:.4f}"
    row["exposure"] = _percent(arm.exposure)
    row["last new"] = f"turn {arm.last_new_turn:g}" if arm.new_images else "never"
    row["stalled"] = f"{arm.stalled} of {arm.runs}" if several else "yes" if arm.stalled else "no"
    ends = arm.episodes
    row["episodes"] = f"{ends.caught} / {ends.stalled} / {ends.propagated}" if arm.known_runs else "-"
    first = arm.first_damage
    if several:
        row["damage stood"] = f"{first.runs - first.never} of {counted(first.runs, 'run')}" if arm.known_runs else "-"
    else:
        row["first damage"] = f"turn {first.turns[0]}" if first.turns else "never" if arm.known_runs else "-"
    row["false alarms"] = f"{arm.alarms.alarmed} of {arm.alarms.inputs}" if arm.known_runs else "-"
    never = f", {arm.never_detected} never" if arm.never_detected else ""
    delay = "-" if arm.delay is None and not never else "none" if arm.delay is None else f"{arm.delay:g}"
    row["delay"] = f"{delay}{never}"
    recovered = f", {arm.recovered} recovered" if arm.recovered else ""
    if several:
        row["collapsed"] = f"{len(arm.collapse_turns)} of {arm.known_runs}{recovered}" if arm.known_runs else "-"
    else:
        row["collapse"] = f"turn {arm.collapse_turns[0]}{recovered}" if arm.collapse_turns else "none"
    row["calls"] = str(arm.calls)
    if priced:
        row["cost"] = "-" if arm.cost_usd is None else f"${arm.cost_usd:.4f}"
    row["forced"] = f"{arm.forced} of {arm.new_images}"
    return row


def difference_rows(answer: StudyAnswer) -> TableRows:
    """Paired differences to the arm without a gate, on both axes; p values where the origins are enough for some."""
    return [
        {
            "arm": pair.arm + (" *" if _is_control(answer, pair.arm) else ""),
            "cells": str(pair.cells),
            "progress": _shown(pair.progress, 1.0, "+.3g", ""),
            **({"p of progress": _p(pair.progress_p_adjusted)} if answer.tests else {}),
            "exposure, points": _shown(pair.exposure, 100.0, "+.3g", ""),
            **({"p of exposure": _p(pair.exposure_p_adjusted)} if answer.tests else {}),
        }
        for pair in answer.pairs
    ]


def _is_control(answer: TruthAnswer, name: str) -> bool:
    return any(arm.control for arm in answer.arms if arm.arm == name)


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


def matched_rows(answer: TruthAnswer) -> TableRows:
    """Truth at equal progress; the number of runs that it rests on in brackets."""
    unit = f" {answer.truth_unit}" if answer.truth_unit else ""
    rows = []
    for arm in answer.arms:
        if not arm.new_images or not arm.known_runs:
            continue
        cells = {}
        for one in arm.truth_at:
            untouched = f", {one.untouched} untouched" if one.untouched else ""
            value = "none" if one.value is None else f"{one.value:.3g}{unit} ({one.runs}{untouched})"
            cells[f"edit {one.edits} (runs)"] = value
        rows.append({"arm": arm.arm + (" *" if arm.control else ""), **cells})
    return rows


def evaluator_rows(answer: TruthAnswer) -> TableRows:
    """One row per evaluator and editor; the mean over the editors last."""
    rows = []
    for one in answer.evaluators:
        told = {"given the origin": one.given_origin, "measures the truth": one.like_truth}
        marks = [word for word, holds in told.items() if holds]
        for place, editor in enumerate(one.editors):
            last = place == len(one.editors) - 1
            rows.append(
                {
                    "evaluator": one.evaluator + (f" ({', '.join(marks)})" if marks else ""),
                    "editor": editor.editor,
                    "AUC within runs": _plain_number(editor.auc),
                    "runs": f"{editor.runs} of {editor.of_runs}",
                    "damaged": str(editor.damaged),
                    "sound": str(editor.sound),
                    "misses the decay": _gap(one) if last else "",
                }
            )
    return rows


def _of(number: int, every: int, noun: str) -> str:
    return f"{number} of {counted(every, noun)}"


def _gap(one: EvaluatorAnswer) -> str:
    gap = one.gap
    if not gap.runs:
        return "not told: truth is not known to fall by turns 5, 10 and 20" if gap.not_fallen else "not told"
    return f"in {gap.failures} of {counted(gap.runs, 'run')} in which truth fell"


def sensitivity_rows(answer: TruthAnswer) -> TableRows:
    """The same decisions under other thresholds."""
    unit = f" {answer.truth_unit}" if answer.truth_unit else ""
    return [
        {
            "damaged at": f"{row.damaged_at:g}{unit}",
            "arm": row.arm,
            "progress": "-" if row.progress is None else f"{row.progress:.3g}",
            "exposure": "-" if row.exposure is None else f"{100 * row.exposure:.0f} %",
            "stalled": str(row.stalled),
            "episodes": f"{row.episodes.caught} / {row.episodes.stalled} / {row.episodes.propagated}",
        }
        for row in answer.sensitivity
    ]


def _simulated(number: int, runs: int) -> str:
    word = how_simulated(number, runs)
    return f" ({word.upper()})" if word else ""


def reasoning_rows(answer: StudyAnswer) -> TableRows:
    """What the reasoning summaries are worth."""
    rows = []
    for arm in answer.reasoning:
        never = f", {arm.never_mentioned} never" if arm.never_mentioned else ""
        first = "never" if arm.first_mention is None else f"turn {arm.first_mention:g}{never}"
        kappa = arm.with_truth.kappa.value
        rows.append(
            {
                "reasoning summaries": arm.arm + _simulated(arm.simulated_runs, arm.runs),
                "read": str(arm.counts.read),
                "confident while damaged": _percent(arm.hallucinated_confidence),
                "confident while sound": _percent(arm.confident_when_sound),
                "mention damage": _percent(arm.mentions_damage),
                "first mention": first,
                "kappa with truth": "-" if kappa is None else f"{kappa:.2f}",
            }
        )
    return rows


def failure_rows(answer: StudyAnswer) -> TableRows:
    """Failures of the taxonomy that were found or labelled."""
    return [
        {
            "failure": failure.name.replace("_", " "),
            "level": failure.level,
            "arm": arm.arm,
            "found": f"{failure.found} of {counted(failure.measured, 'candidate')}"
            if failure.measured
            else "not measured",
            "labelled": str(failure.labelled),
            "runs": str(failure.runs),
            "first turn": str(failure.first_turns[0]) if failure.first_turns else "-",
        }
        for arm in answer.failures
        for failure in arm.failures
        if failure.found or failure.labelled
    ]


# Numbers with their interval, where there is one.


def _number(estimate: Estimate) -> str:
    return _shown(estimate, 1.0, ".3g", "")


def _percent(estimate: Estimate) -> str:
    return _shown(estimate, 100.0, ".0f", " %")


def _plain_number(estimate: Estimate) -> str:
    return _shown(estimate, 1.0, ".3f", "")


def _shown(estimate: Estimate, scale: float, form: str, unit: str) -> str:
    if estimate.value is None:
        return "-"
    text = f"{round(estimate.value * scale, 9):{form}}{unit}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} [{estimate.low * scale:{form}}, {estimate.high * scale:{form}}]"
