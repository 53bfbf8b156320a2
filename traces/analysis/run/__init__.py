"""What one run means."""

from turngate.traces.analysis.run.blindness import truth_seen_by_gate
from turngate.traces.analysis.run.comparison import Comparison, compare_runs
from turngate.traces.analysis.run.origins import calibration_origins, origin_identity
from turngate.traces.analysis.run.recast import outcomes, truth_direction, with_threshold
from turngate.traces.analysis.run.rescored import (
    MARK,
    EvaluatorKey,
    RescoredEvaluator,
    RescoredScores,
    read_rescored,
    rescored_names,
    turns_in_words,
    with_rescored,
)
from turngate.traces.analysis.run.run_view import (
    AttemptView,
    RunView,
    Standing,
    attempt_views,
    seen_by,
    standings,
    truth_doubts,
    turns_of,
)
from turngate.traces.analysis.run.settings import as_yaml, gate_line, in_words, made_with, models, setup_lines
from turngate.traces.analysis.run.summaries import RunReasoning, Spoken, SummaryCounts, read_run, read_runs
from turngate.traces.analysis.run.summary import Counts, RunMeasures, RunSummary, measure_run, summarise

__all__ = [
    "MARK",
    "AttemptView",
    "Comparison",
    "Counts",
    "EvaluatorKey",
    "RescoredEvaluator",
    "RescoredScores",
    "RunMeasures",
    "RunReasoning",
    "RunSummary",
    "RunView",
    "Spoken",
    "Standing",
    "SummaryCounts",
    "as_yaml",
    "attempt_views",
    "calibration_origins",
    "compare_runs",
    "gate_line",
    "in_words",
    "made_with",
    "measure_run",
    "models",
    "origin_identity",
    "outcomes",
    "read_rescored",
    "read_run",
    "read_runs",
    "rescored_names",
    "seen_by",
    "setup_lines",
    "standings",
    "summarise",
    "truth_direction",
    "truth_doubts",
    "truth_seen_by_gate",
    "turns_in_words",
    "turns_of",
    "with_rescored",
    "with_threshold",
]
