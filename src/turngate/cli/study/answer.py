"""What a study found, on the terminal: the verdict of every arm first, then the tables."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turngate.cli.columns import plain, print_rows, print_words
from turngate.traces.analysis.statistics import how_simulated, why_simulated

if TYPE_CHECKING:
    from turngate.agent.reasoning import SummaryReader
    from turngate.graphs.study import Finished
    from turngate.traces.analysis.labels import Labels
    from turngate.traces.analysis.statistics import Estimate
    from turngate.traces.analysis.study import ArmAnswer, EvaluatorAnswer, StudyAnswer, TruthAnswer

__all__ = [
    "arm_rows",
    "difference_rows",
    "evaluator_rows",
    "failure_rows",
    "matched_rows",
    "reasoning_rows",
    "say_answer",
    "sensitivity_rows",
]


def say_answer(
    folder: Path, ended: list[Finished], as_json: bool, reader: SummaryReader, labels: Labels | None = None
) -> None:
    """Write the study's page and print its answer; where `labels` are given, people's verdicts lead the truths."""
    from turngate.pages.report.study import write_study_page
    from turngate.traces.analysis.study import StudyView, answer_study, load_study

    study = StudyView.load(folder)
    loaded = load_study(study, labels)
    answer = answer_study(loaded, reader)
    page = write_study_page(loaded, answer)
    worked = any(one.worked for one in ended)
    if as_json:
        runs = [
            {"arm": one.run.arm, "cell": one.run.label, "summary": one.summary.model_dump(mode="json")}
            for one in loaded.runs
        ]
        found = {"study": answer.study, "runs": runs, "answer": answer.model_dump(mode="json"), "page": str(page)}
        print(json.dumps({**found, "worked": worked}))
        return
    if not worked:
        click.echo("nothing to do: every run is finished")
    for one in ended:
        if one.status == "failed":
            click.echo(f"{one.folder} failed: {plain(one.reason or '', 300)}", err=True)
    click.echo()
    print_words(answer.question)
    _say_truth(answer)
    # One run per arm is a demonstration: its page has the rest.
    if len(study.arms()) < len(study.runs):
        _say_more(answer)
    fields = ("simulated_runs", "fake_server_runs", "runs")
    written, fake, number = (sum(getattr(arm, field) for arm in answer.arms) for field in fields)
    if written:
        click.echo()
        print_words(f"SIMULATED in {written} of {number} runs: there {why_simulated(written, fake)}.")
    for remark in (*answer.remarks, *(remark for arm in answer.failures for remark in arm.remarks)):
        print_words(remark, error=True)
    click.echo(f"page: {page}")
    click.echo(f"next: {_program()} view {folder}")


def _program() -> str:
    """The installed program, with its path: `make` puts it in no one's PATH."""
    called = Path(sys.argv[0])
    return shutil.which(called.name) or str(called.absolute() if called.name == "turngate" else "turngate")


def _say_truth(answer: TruthAnswer) -> None:
    """Verdict of every arm, then the numbers behind it."""
    print_words(_truth_words(answer))
    for arm in answer.arms:
        print_words(f"{arm.arm}{' *' if arm.control else ''} {arm.verdict.words}")
    click.echo()
    print_rows(arm_rows(answer.arms))
    single = all(arm.runs == 1 for arm in answer.arms)
    print_words(_legend(answer, single))


def _truth_words(answer: TruthAnswer) -> str:
    if not answer.truth:
        return "Truth: not measured, so nothing is told of damage."
    name = "" if answer.truth_name == "truth" else f" ({answer.truth_name})"
    better = f"; {answer.truth_better} is better" if answer.truth_better else ""
    return f"Truth{name}: {'; '.join(answer.truth)}{better}."


def _legend(answer: TruthAnswer, single: bool) -> str:
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
        return f" [95 % interval over {clusters} origins]."
    return (
        f" {clusters} origin{'s' if clusters != 1 else ''}: too few for intervals and p, see each origin on the page."
    )


def _say_more(answer: StudyAnswer) -> None:
    _table("Against the arm without a gate, on the same cells:", difference_rows(answer), _p_words(answer))
    _table("Truth after the n-th accepted edit, median:", matched_rows(answer))
    if answer.base is None and answer.evaluators:
        click.echo()
        print_words("How well the evaluators tell damage: not told, add a no-gate arm.")
    else:
        _table(f"Evaluators against truth, within the runs of {answer.base}:", evaluator_rows(answer))
    for judge in answer.evaluators:
        if judge.position_bias is not None:
            start = "WARNING: " if judge.position_bias.always else ""
            print_words(f"{start}{judge.evaluator} {judge.position_bias.words}.")
        if judge.other_size:
            what = f"{judge.other_size} scores are of images of another size than the origin's"
            print_words(f"{judge.evaluator}: {what}: they compare less well.")
    _table("The same decisions under other thresholds of damaged:", sensitivity_rows(answer))
    for other in answer.more_truths:
        click.echo()
        _say_truth(other)
    for apart in answer.disagreements:
        print_words(apart.words)
    _table("", reasoning_rows(answer))
    _table("", failure_rows(answer))


def _table(title: str, rows: Sequence[dict[str, str]], beneath: str = "") -> None:
    if not rows:
        return
    click.echo(f"\n{title}\n" if title else "")
    print_rows(rows, left=("arm", "editor", "level"))
    if beneath:
        print_words(beneath)


def _p_words(answer: StudyAnswer) -> str:
    if answer.smallest_p is None or answer.smallest_p_alone is None:
        return ""
    return (
        f"p: sign flips over {answer.origins} origins, corrected over {answer.tests} tests (both axes of the own arms)."
        f" The smallest p that can be reached is {answer.smallest_p:.2g}; for one difference alone it is "
        f"{answer.smallest_p_alone:.2g} after the correction."
    )


# Rows of the tables, in the order that an answer has.


_Rows = list[dict[str, str]]


def arm_rows(arms: Sequence[ArmAnswer]) -> _Rows:
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
        row["damage stood"] = f"{first.runs - first.never} of {first.runs} runs" if arm.known_runs else "-"
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


def difference_rows(answer: StudyAnswer) -> _Rows:
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


def matched_rows(answer: TruthAnswer) -> _Rows:
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


def evaluator_rows(answer: TruthAnswer) -> _Rows:
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


def _gap(one: EvaluatorAnswer) -> str:
    gap = one.gap
    if not gap.runs:
        return "not told: truth fell in no run" if gap.not_fallen else "not told"
    return f"in {gap.failures} of {gap.runs} runs in which truth fell"


def sensitivity_rows(answer: TruthAnswer) -> _Rows:
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


def reasoning_rows(answer: StudyAnswer) -> _Rows:
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


def failure_rows(answer: StudyAnswer) -> _Rows:
    """Failures of the taxonomy that were found or labelled."""
    return [
        {
            "failure": failure.name.replace("_", " "),
            "level": failure.level,
            "arm": arm.arm,
            "found": f"{failure.found} of {failure.measured} candidates" if failure.measured else "not measured",
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
