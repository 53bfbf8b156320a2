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
from turngate.traces.analysis.study.calibration import (
    Calibration,
    ChartBaseline,
    CleanEdit,
    EditorRate,
    LeftOutOrigin,
    calibrate,
    chart_baseline,
    clean_edits,
    limit_of,
)
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
    "Calibration",
    "ChartBaseline",
    "CleanEdit",
    "CostPoint",
    "Curve",
    "Denominator",
    "EditorRate",
    "EvaluatorAnswer",
    "FailureAnswer",
    "Judged",
    "LeftOutOrigin",
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
    "calibrate",
    "caught_within",
    "chart_baseline",
    "clean_edits",
    "cost_points",
    "gaps_of",
    "kappa",
    "limit_of",
    "load_study",
    "roc",
    "score_curve",
    "survival_points",
    "thresholds_of",
    "truth_curve",
]
