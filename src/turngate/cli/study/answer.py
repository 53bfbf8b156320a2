"""What a study found, on the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turngate.cli.columns import print_rows, print_words
from turngate.traces.analysis.statistics import FEW_ORIGINS, how_simulated

if TYPE_CHECKING:
    from turngate.agent.reasoning import SummaryReader
    from turngate.graphs.study import Finished
    from turngate.traces.analysis.labels import Labels
    from turngate.traces.analysis.run import RunSummary
    from turngate.traces.analysis.statistics import Estimate
    from turngate.traces.analysis.study import StudyAnswer

__all__ = ["say_answer"]


def say_answer(
    folder: Path, ended: list[Finished], as_json: bool, reader: SummaryReader, labels: Labels | None = None
) -> None:
    """Write the study's page and print its answer, with people's verdicts as truth where `labels` are given."""
    from turngate.cli.columns import plain
    from turngate.pages.report.study import write_study_page
    from turngate.traces.analysis.study import StudyView, answer_study, load_study

    study = StudyView.load(folder)
    loaded = load_study(study, labels)
    single = len(study.arms()) == len(study.runs)
    summaries = {one.run.arm if single else f"{one.run.arm} {one.run.label}": one.summary for one in loaded.runs}
    answer = answer_study(loaded, reader)
    page = write_study_page(loaded, answer)
    worked = any(one.worked for one in ended)
    if as_json:
        arms = {key: summary.model_dump(mode="json") for key, summary in summaries.items()}
        found = {"study": answer.study, "arms": arms, "answer": answer.model_dump(mode="json"), "page": str(page)}
        print(json.dumps({**found, "worked": worked}))
        return
    if not worked:
        click.echo("nothing to do: every run is finished")
    for one in ended:
        if one.status == "failed":
            click.echo(f"{one.folder} failed: {plain(one.reason or '', 300)}", err=True)
    click.echo()
    print_words(answer.question)
    click.echo()
    if single:
        print_rows(_run_rows(summaries))
    else:
        _say_arms(answer)
    _say_reasoning(answer)
    _say_failures(answer)
    written, runs = (sum(getattr(arm, field) for arm in answer.arms) for field in ("simulated_runs", "runs"))
    if written:
        click.echo()
        print_words(f"SIMULATED editor in {written} of {runs} runs: there the damage was written by hand.")
    for remark in (*answer.remarks, *(remark for arm in answer.failures for remark in arm.remarks)):
        print_words(remark, error=True)
    for truth in answer.truth:
        click.echo()
        print_words(f"truth: {truth}. Turns are counted under accepted, rejected, forced; candidates elsewhere.")
    click.echo(f"page: {page}")


def _run_rows(summaries: dict[str, RunSummary]) -> list[dict[str, str]]:
    rows = []
    for name, one in summaries.items():
        end = "-" if one.final_truth is None else f"{one.final_truth:.3g} {'damaged' if one.final_damaged else 'sound'}"
        numbers = {
            "accepted": one.accepted, "rejected": one.rejected, "forced": one.forced, "caught": one.caught,
            "propagated": one.propagated, "passed": one.passed, "false alarms": one.false_alarms,
        }  # fmt: skip
        counted = {column: "-" if number is None else str(number) for column, number in numbers.items()}
        collapse = f"turn {one.collapse_turn}" if one.collapse_turn else "none"
        rows.append({"arm": name, **counted, "collapse": collapse, "truth at end": end})
    return rows


def _say_arms(answer: StudyAnswer) -> None:
    pairs = {pair.arm: pair for pair in answer.pairs}
    rows = []
    for arm in answer.arms:
        pair = pairs.get(arm.arm)
        difference = "-" if pair is None or pair.difference.value is None else f"{pair.difference.value:+.3g}"
        p = "" if pair is None or pair.p_adjusted is None else f" (p {pair.p_adjusted:.2g})"
        rows.append(
            {
                "arm": arm.arm + (" *" if arm.control else ""),
                "runs": str(arm.runs),
                "new images": _percent(arm.accepted_share, interval=False),
                "caught": _percent(arm.catch_rate),
                "false alarms": _percent(arm.false_alarm_rate),
                "propagated": _percent(arm.propagated_share),
                "collapsed": _percent(arm.collapsed, interval=False),
                "delay": "-" if arm.delay is None else f"{arm.delay:g}",
                "truth at end": "-" if arm.end_truth.value is None else f"{arm.end_truth.value:.3g}",
                "to no gate": difference + p,
                "calls": "-" if arm.calls_per_sound_turn is None else f"{arm.calls_per_sound_turn:.3g}",
            }
        )
    print_rows(rows)
    better = f", {answer.truth_better} is better" if answer.truth_better else ""
    few = f"; {answer.origins} origins: intervals and p are rough" if answer.origins < FEW_ORIGINS else ""
    print_words(
        "* control. [95 % interval, bootstrap over origins]. caught: of damaged candidates; false alarms: of sound "
        "ones; propagated: of new images; delay: median turns to the first catch; truth at end: mean"
        f"{better}; calls: editor calls per new and sound image{few}."
    )
    rows = []
    for one in answer.evaluators:
        counts, gap = one.counts, one.gap
        auc = "-" if one.auc.value is None else f"{one.auc.value:.3f}{_interval(one.auc, 1.0, '.3f')}"
        rows.append(
            {
                "evaluator": one.evaluator,
                "AUC": auc,
                "candidates": str(one.candidates)
                if one.candidates == one.of_candidates
                else f"{one.candidates} of {one.of_candidates}",
                "scored / unscored / failed / skipped": " / ".join(map(str, counts.model_dump().values())),
                "misses the decay at 5, 10 or 20": f"{gap.failures} of {gap.runs} runs"
                if gap.runs
                else "no run took images at all of them",
            }
        )
    click.echo(f"\nEvaluators against truth, arm {answer.evaluators[0].arm}:\n" if rows else "")
    print_rows(rows)
    if answer.sensitivity:
        click.echo("\nThe same decisions under other thresholds of damaged:\n")
        print_rows([
            {
                "damaged at": f"{row.damaged_at:g}", "arm": row.arm, "caught": _share(row.catch_rate),
                "false alarms": _share(row.false_alarm_rate), "propagated": _share(row.propagated_share),
                "collapsed": _share(row.collapsed),
            }
            for row in answer.sensitivity
        ])  # fmt: skip


def _simulated(number: int, runs: int) -> str:
    word = how_simulated(number, runs)
    return f" ({word.upper()})" if word else ""


def _say_reasoning(answer: StudyAnswer) -> None:
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
    click.echo("", nl=bool(rows))
    print_rows(rows)


def _say_failures(answer: StudyAnswer) -> None:
    rows = [
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
    click.echo("", nl=bool(rows))
    print_rows(rows)


def _percent(estimate: Estimate, interval: bool = True) -> str:
    if estimate.value is None:
        return "-"
    return f"{estimate.value:.0%}{_interval(estimate, 100.0, '.0f') if interval else ''}"


def _interval(estimate: Estimate, scale: float, form: str) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{estimate.low * scale:{form}}, {estimate.high * scale:{form}}]"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
