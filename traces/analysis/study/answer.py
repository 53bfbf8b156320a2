"""The answer of a study: per arm, per evaluator and per failure, with intervals that respect the origins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turngate.frozen import FrozenModel
from turngate.traces.analysis.failures import LABEL_FILE, RunFailures, find_failures
from turngate.traces.analysis.labels import Labels
from turngate.traces.analysis.run import truth_doubts
from turngate.traces.analysis.statistics import Estimate, bootstrap_ratio
from turngate.traces.analysis.study.arms import (
    ArmAnswer,
    ArmDifference,
    SensitivityRow,
    answer_arm,
    pair_arms,
    sensitivity_at,
)
from turngate.traces.analysis.study.evaluators import (
    EvaluatorAnswer,
    answer_evaluators,
    answer_rescored,
    unreadable_scores,
)
from turngate.traces.analysis.study.loaded import LoadedRun, LoadedStudy, by_arm
from turngate.traces.analysis.study.summaries import ReasoningAnswer, answer_reasoning
from turngate.traces.analysis.taxonomy import FAILURES, FailureLevel, FailureName

if TYPE_CHECKING:
    from turngate.agent.reasoning.reading import SummaryReader

__all__ = ["FailureAnswer", "StudyAnswer", "answer_failures", "answer_study"]


class FailureAnswer(FrozenModel):
    """One failure over the candidates of an arm."""

    name: FailureName
    level: FailureLevel
    measured: int
    """Candidates that a measuring source could judge; 0 means not measured, not absent."""
    found: int
    """Those among them that show it."""
    share: Estimate
    """`found` of `measured`; the interval is 95 %, by bootstrap over origins."""
    runs: int
    """Runs in which it was found, by any source."""
    first_turns: list[int]
    """First turn of each of these, sorted."""
    labelled: int
    """Candidates that a label file gives it; they are in none of the counts of what was measured."""
    sources: list[str]
    """What the judgements were read from."""


class TaxonomyAnswer(FrozenModel):
    """All failures of an arm."""

    arm: str
    simulated_runs: int
    """Runs of a simulator: its failures were written by hand."""
    runs: int
    failures: list[FailureAnswer]
    """In the order of the taxonomy."""
    remarks: list[str]
    """Rows of the label file that have no image in their run, and verdicts that another person's row replaced."""


def answer_failures(arm: str, runs: Sequence[LoadedRun], labels: Labels | None = None) -> TaxonomyAnswer:
    """Add up the runs of one arm."""
    found = [(one, find_failures(one.view, labels)) for one in runs]
    remarks = [remark for one in runs for remark in labels.of(one.view).remarks] if labels is not None else []
    return TaxonomyAnswer(
        arm=arm,
        simulated_runs=sum(one.numbers.summary.simulated for one in runs),
        runs=len(runs),
        failures=[_answer(name, found) for name in FAILURES],
        remarks=remarks,
    )


def _answer(name: FailureName, runs: Sequence[tuple[LoadedRun, RunFailures]]) -> FailureAnswer:
    groups: dict[str, list[dict[tuple[int, int], bool]]] = {}
    for one, failures in runs:
        if places := failures.measured(name):
            groups.setdefault(one.run.origin, []).append(places)
    everything = [judgement for _, failures in runs for judgement in failures.judgements if judgement.name == name]
    turns = [[judgement.turn for judgement in failures.found(name)] for _, failures in runs]
    measured = [places for group in groups.values() for places in group]
    return FailureAnswer(
        name=name,
        level=FAILURES[name].level,
        measured=sum(map(len, measured)),
        found=sum(sum(places.values()) for places in measured),
        share=bootstrap_ratio(groups, lambda places: sum(places.values()), len),
        runs=sum(map(bool, turns)),
        first_turns=sorted(min(found) for found in turns if found),
        labelled=sum(judgement.source == LABEL_FILE for judgement in everything),
        sources=sorted({judgement.source for judgement in everything}),
    )


NO_GATE = "no-gate"
"""Name of the arm that others are held against."""


class StudyAnswer(FrozenModel):
    """Everything that a study found."""

    study: str
    question: str
    truth: list[str]
    """How truth was measured, and the threshold; more than one when runs differ."""
    truth_better: str | None
    """`higher` or `lower`: which way the truth's values are better."""
    origins: int
    """Clusters of the intervals."""
    arms: list[ArmAnswer]
    pairs: list[ArmDifference]
    evaluators: list[EvaluatorAnswer]
    """Those of the runs, then those that scored the runs after them (`rescored` is set)."""
    sensitivity: list[SensitivityRow]
    reasoning: list[ReasoningAnswer]
    """What the reasoning summaries of each arm are worth; arms without a summary that was read are left out."""
    failures: list[TaxonomyAnswer]
    """Failures of the taxonomy, per arm."""
    missing: list[str]
    """Planned runs that were never begun."""
    remarks: list[str]
    """Rows of the label file that mean no run or no image, truths that rest on a doubtful registration, and files of
    scores that cannot be read."""


def answer_study(loaded: LoadedStudy, reader: SummaryReader | None = None) -> StudyAnswer:
    """Count over all runs. `reader` reads the reasoning summaries; without one they are left out."""
    study, labels, runs = loaded.study, loaded.labels, loaded.runs
    arms = by_arm(runs)
    base = arms.get(NO_GATE, [])
    higher = {one.truth_direction == "higher" for one in runs if one.view.baseline_truth}
    return StudyAnswer(
        study=str(study.config["name"]),
        question=str(study.config["question"]),
        truth=sorted({truth for one in runs if (truth := one.summary.truth)}),
        truth_better=None if len(higher) != 1 else "higher" if higher.pop() else "lower",
        origins=len({one.run.origin for one in runs}),
        arms=[answer_arm(arm, arms[arm]) for arm in study.arms() if arm in arms],
        pairs=pair_arms(arms, base),
        evaluators=[*answer_evaluators(arms, base), *answer_rescored(loaded, base)],
        # A person's verdict is no value that another threshold could cut.
        sensitivity=[
            row
            for damaged_at in (study.config.get("sensitivity", []) if labels is None else [])
            for row in sensitivity_at(arms, damaged_at)
        ],
        reasoning=_reasoning(arms, reader),
        failures=[answer_failures(arm, of_arm, labels) for arm, of_arm in arms.items()],
        remarks=[
            *(labels.strangers([one.view for one in runs]) if labels is not None else []),
            *truth_doubts(one.view for one in runs),
            *unreadable_scores(loaded),
        ],
        missing=[f"{run.arm} {run.label}" for run in study.runs if not run.exists()],
    )


def _reasoning(arms: dict[str, list[LoadedRun]], reader: SummaryReader | None) -> list[ReasoningAnswer]:
    if reader is None:
        return []
    answers = (answer_reasoning(arm, runs, reader) for arm, runs in arms.items())
    return [answer for answer in answers if answer.counts.read]
