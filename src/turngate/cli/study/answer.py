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
from turngate.cli.study.tables import (
    arm_rows,
    difference_rows,
    evaluator_rows,
    failure_rows,
    matched_rows,
    reasoning_rows,
    sensitivity_rows,
)

if TYPE_CHECKING:
    from turngate.agent.reasoning import SummaryReader
    from turngate.graphs.study import Finished
    from turngate.traces.analysis.labels import Labels
    from turngate.traces.analysis.study import StudyAnswer, TruthAnswer

__all__ = ["say_answer"]


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
    written, number = (sum(getattr(arm, field) for arm in answer.arms) for field in ("simulated_runs", "runs"))
    if written:
        click.echo()
        print_words(f"SIMULATED editor in {written} of {number} runs: there the damage was written by hand.")
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
    width = max((len(arm.arm) for arm in answer.arms), default=0) + 2
    for arm in answer.arms:
        print_words(f"{arm.arm + (' *' if arm.control else ''):<{width}} {arm.verdict.words}")
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
    print_rows(rows)
    if beneath:
        print_words(beneath)


def _p_words(answer: StudyAnswer) -> str:
    if answer.smallest_p is None:
        return ""
    tests = 2 * sum(not arm.control and arm.arm != answer.base for arm in answer.arms)
    return (
        f"p: sign flips over {answer.origins} origins, corrected over {tests} tests (both axes of the own arms). The "
        f"smallest p that can be reached is {answer.smallest_p:.2g}; for one difference alone it is "
        f"{min(1.0, answer.smallest_p * tests):.2g} after the correction."
    )
