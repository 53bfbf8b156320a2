"""The answer of a study: per arm and per evaluator, with intervals that respect the origins."""

from __future__ import annotations

from collections import defaultdict

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.arm_answer import ArmAnswer, answer_arm
from turngate.traces.analysis.evaluator_answer import EvaluatorAnswer, answer_evaluators
from turngate.traces.analysis.measured import Measured
from turngate.traces.analysis.pair import Pair, pair_arms
from turngate.traces.analysis.run_measures import measure_run
from turngate.traces.analysis.sensitivity import SensitivityRow, sensitivity_at
from turngate.traces.analysis.study_view import StudyView
from turngate.traces.analysis.thresholds import higher_is_better

__all__ = ["StudyAnswer", "answer_study"]

NO_GATE = "no-gate"
"""Name of the arm that others are held against."""


class StudyAnswer(BaseModel):
    """Everything that a study found."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    study: str
    question: str
    truth: list[str]
    """How truth was measured, and the threshold; more than one when runs differ."""
    truth_better: str | None
    """`higher` or `lower`: which way the truth's values are better."""
    origins: int
    """Clusters of the intervals."""
    arms: list[ArmAnswer]
    pairs: list[Pair]
    evaluators: list[EvaluatorAnswer]
    sensitivity: list[SensitivityRow]
    missing: list[str]
    """Planned runs that were never begun."""


def answer_study(study: StudyView) -> StudyAnswer:
    """Read every run once and count. Raises `DamagedRun` when one cannot be read."""
    found = [(run, run.load()) for run in study.begun()]
    by_arm: dict[str, list[Measured]] = defaultdict(list)
    for run, view in found:
        by_arm[run.arm].append(Measured(run, view, measure_run(view)))
    arms = [answer_arm(arm, by_arm[arm]) for arm in study.arms() if by_arm[arm]]
    higher = {higher_is_better(view) for _, view in found if view.baseline_truth}
    base = by_arm.get(NO_GATE, [])
    return StudyAnswer(
        study=str(study.config["name"]),
        question=str(study.config["question"]),
        truth=sorted({truth for runs in by_arm.values() for one in runs if (truth := one.numbers.summary.truth)}),
        truth_better=None if len(higher) != 1 else "higher" if higher.pop() else "lower",
        origins=len({run.origin for run, _ in found}),
        arms=arms,
        pairs=pair_arms(by_arm, base),
        evaluators=answer_evaluators(by_arm, base),
        sensitivity=[
            row for damaged_at in study.config.get("sensitivity", []) for row in sensitivity_at(by_arm, damaged_at)
        ],
        missing=[f"{run.arm} {run.label}" for run in study.runs if not run.exists()],
    )
