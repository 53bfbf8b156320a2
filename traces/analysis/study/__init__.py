"""What a study answers."""

from turngate.traces.analysis.study.answer import (
    NO_GATE,
    FailureAnswer,
    StudyAnswer,
    TruthAnswer,
    answer_failures,
    answer_study,
)
from turngate.traces.analysis.study.arms import (
    MATCHED_EDITS,
    ArmAnswer,
    FirstDamage,
    MatchedTruth,
    first_damage,
    survival_points,
)
from turngate.traces.analysis.study.calibration import (
    Calibration,
    ChartBaseline,
    CleanEdit,
    EditorRate,
    LeftOutOrigin,
    Reference,
    calibrate,
    chart_baseline,
    clean_edits,
    limit_of,
)
from turngate.traces.analysis.study.disagreement import TruthDisagreement
from turngate.traces.analysis.study.evaluators import (
    ALL_EDITORS,
    EditorDiscrimination,
    EvaluatorAnswer,
    Judged,
    auc,
    mean_roc,
    roc,
)
from turngate.traces.analysis.study.gap import STEPS, Denominator, gaps_of
from turngate.traces.analysis.study.loaded import (
    Curve,
    LoadedRun,
    LoadedStudy,
    load_study,
    score_curve,
    seen_through,
    thresholds_of,
    truth_curve,
)
from turngate.traces.analysis.study.pairs import ArmDifference, SensitivityRow
from turngate.traces.analysis.study.study_view import StudyRun, StudyView
from turngate.traces.analysis.study.summaries import Table, agreement, answer_reasoning, kappa
from turngate.traces.analysis.study.verdicts import ArmVerdict

__all__ = [
    "ALL_EDITORS",
    "MATCHED_EDITS",
    "NO_GATE",
    "STEPS",
    "ArmAnswer",
    "ArmDifference",
    "ArmVerdict",
    "Calibration",
    "ChartBaseline",
    "CleanEdit",
    "Curve",
    "Denominator",
    "EditorDiscrimination",
    "EditorRate",
    "EvaluatorAnswer",
    "FailureAnswer",
    "FirstDamage",
    "Judged",
    "LeftOutOrigin",
    "LoadedRun",
    "LoadedStudy",
    "MatchedTruth",
    "Reference",
    "SensitivityRow",
    "StudyAnswer",
    "StudyRun",
    "StudyView",
    "Table",
    "TruthAnswer",
    "TruthDisagreement",
    "agreement",
    "answer_failures",
    "answer_reasoning",
    "answer_study",
    "auc",
    "calibrate",
    "chart_baseline",
    "clean_edits",
    "first_damage",
    "gaps_of",
    "kappa",
    "limit_of",
    "load_study",
    "mean_roc",
    "roc",
    "score_curve",
    "seen_through",
    "survival_points",
    "thresholds_of",
    "truth_curve",
]
