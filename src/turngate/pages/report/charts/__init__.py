"""Charts of the reports."""

from turngate.pages.report.charts.figure import Panel
from turngate.pages.report.charts.plane import equal_calls_panel, plane_panel
from turngate.pages.report.charts.run import score_panel, truth_panel
from turngate.pages.report.charts.series_style import (
    Arm,
    EvaluatorSeries,
    Marker,
    SeriesStyle,
    Truth,
    arms_of,
    evaluator_series,
    marker_of,
    truth_of,
)
from turngate.pages.report.charts.study import (
    arms_score_panel,
    arms_truth_panel,
    delta_panel,
    roc_panels,
    sensitivity_panels,
    survival_panel,
)

__all__ = [
    "Arm",
    "EvaluatorSeries",
    "Marker",
    "Panel",
    "SeriesStyle",
    "Truth",
    "arms_of",
    "arms_score_panel",
    "arms_truth_panel",
    "delta_panel",
    "equal_calls_panel",
    "evaluator_series",
    "marker_of",
    "plane_panel",
    "roc_panels",
    "score_panel",
    "sensitivity_panels",
    "survival_panel",
    "truth_of",
    "truth_panel",
]
