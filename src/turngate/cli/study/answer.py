"""What a study found, on the terminal: the verdict of every arm first, then the tables."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turngate.cli.columns import plain, print_rows, print_words
from turngate.errors import counted
from turngate.traces.analysis.statistics import why_simulated
from turngate.traces.analysis.study import (
    arm_legend,
    arm_rows,
    difference_rows,
    evaluator_rows,
    failure_rows,
    matched_rows,
    p_words,
    reasoning_rows,
    sensitivity_rows,
    study_truth_words,
    verdict_lines,
)

if TYPE_CHECKING:
    from turngate.agent.reasoning import SummaryReader
    from turngate.graphs.study import Finished
    from turngate.traces.analysis.labels import Labels
    from turngate.traces.analysis.study import StudyAnswer, TruthAnswer

__all__ = ["say_answer"]


def say_answer(
    folder: Path,
    ended: list[Finished],
    as_json: bool,
    reader: SummaryReader,
    labels: Labels | None = None,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Write the study's page and print its answer; where `labels` are given, people's verdicts lead the truths.

    `more` are further fields of the JSON object.
    """
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
        print(json.dumps({**found, "worked": worked, **(more or {})}))
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
        print_words(f"SIMULATED in {written} of {counted(number, 'run')}: there {why_simulated(written, fake)}.")
    for remark in (*answer.remarks, *(remark for arm in answer.failures for remark in arm.remarks)):
        print_words(remark, error=True)
    click.echo(f"page: {page}")
    click.echo(f"next: {_program()} view {folder}")


def _program() -> str:
    """The installed program, with its path: `make` puts it in no one's PATH."""
    called = Path(sys.argv[0])
    if called.name != "turngate":  # a test, or Python with -c
        return "turngate"
    found = shutil.which(called.name)
    return called.name if found and Path(found).resolve() == called.resolve() else str(called.absolute())


def _say_truth(answer: TruthAnswer) -> None:
    """Verdict of every arm, then the numbers behind it."""
    print_words(study_truth_words(answer))
    for line in verdict_lines(answer):
        print_words(line)
    click.echo()
    print_rows(arm_rows(answer.arms))
    print_words(arm_legend(answer))


def _say_more(answer: StudyAnswer) -> None:
    _table("Against the arm without a gate, on the same cells:", difference_rows(answer), p_words(answer))
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
            what = f"{counted(judge.other_size, 'score')} of images of another size than the origin's"
            print_words(f"{judge.evaluator}: {what}: less well comparable.")
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
