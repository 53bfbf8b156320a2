"""What a study answers."""

from turngate.traces.analysis.study.answer import NO_GATE, FailureAnswer, StudyAnswer, answer_failures, answer_study
from turngate.traces.analysis.study.arms import (
    ArmAnswer,
    ArmDifference,
    CostPoint,
    SensitivityRow,
    caught_within,
    cost_points,
    survival_points,
    thresholds_of,
)
from turngate.traces.analysis.study.calibration import clean_scores
from turngate.traces.analysis.study.evaluators import EvaluatorAnswer, Judged, auc, roc
from turngate.traces.analysis.study.gap import STEPS, Denominator, gaps_of
from turngate.traces.analysis.study.loaded import Curve, LoadedRun, LoadedStudy, load_study, score_curve, truth_curve
from turngate.traces.analysis.study.study_view import StudyRun, StudyView
from turngate.traces.analysis.study.summaries import Table, agreement, answer_reasoning, kappa

__all__ = [
    "NO_GATE",
    "STEPS",
    "ArmAnswer",
    "ArmDifference",
    "CostPoint",
    "Curve",
    "Denominator",
    "EvaluatorAnswer",
    "FailureAnswer",
    "Judged",
    "LoadedRun",
    "LoadedStudy",
    "SensitivityRow",
    "StudyAnswer",
    "StudyRun",
    "StudyView",
    "Table",
    "agreement",
    "answer_failures",
    "answer_reasoning",
    "answer_study",
    "auc",
    "caught_within",
    "clean_scores",
    "cost_points",
    "gaps_of",
    "kappa",
    "load_study",
    "roc",
    "score_curve",
    "survival_points",
    "thresholds_of",
    "truth_curve",
]
