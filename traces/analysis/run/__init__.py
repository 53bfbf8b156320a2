"""What one run means."""

from turngate.traces.analysis.run.answer import (
    EpisodeCounts,
    EqualCalls,
    RunAnswer,
    TurnCounts,
    answer_records,
    answer_run,
    answer_stretch,
    stall_window,
)
from turngate.traces.analysis.run.blindness import truth_seen_by_gate
from turngate.traces.analysis.run.comparison import Comparison, compare_runs
from turngate.traces.analysis.run.episodes import (
    AlarmCount,
    DamageEpisode,
    EpisodeEnd,
    damage_episodes,
    false_alarms,
)
from turngate.traces.analysis.run.origins import calibration_origins, origin_identity
from turngate.traces.analysis.run.recast import truth_direction, truth_unit, with_threshold
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
from turngate.traces.analysis.run.summary import Counts, RunSummary, summarise, truth_words
from turngate.traces.analysis.run.turns import Stretch, TurnOutcome, TurnResult, stretch_of, turn_results
from turngate.traces.analysis.run.verdict import VERDICT_WORDS, RunVerdict, VerdictKind, goes_on_words, run_verdict

__all__ = [
    "MARK",
    "VERDICT_WORDS",
    "AlarmCount",
    "AttemptView",
    "Comparison",
    "Counts",
    "DamageEpisode",
    "EpisodeCounts",
    "EpisodeEnd",
    "EqualCalls",
    "EvaluatorKey",
    "RescoredEvaluator",
    "RescoredScores",
    "RunAnswer",
    "RunReasoning",
    "RunSummary",
    "RunVerdict",
    "RunView",
    "Spoken",
    "Standing",
    "Stretch",
    "SummaryCounts",
    "TurnCounts",
    "TurnOutcome",
    "TurnResult",
    "VerdictKind",
    "answer_records",
    "answer_run",
    "answer_stretch",
    "as_yaml",
    "attempt_views",
    "calibration_origins",
    "compare_runs",
    "damage_episodes",
    "false_alarms",
    "gate_line",
    "goes_on_words",
    "in_words",
    "made_with",
    "models",
    "origin_identity",
    "read_rescored",
    "read_run",
    "read_runs",
    "rescored_names",
    "run_verdict",
    "seen_by",
    "setup_lines",
    "stall_window",
    "standings",
    "stretch_of",
    "summarise",
    "truth_direction",
    "truth_doubts",
    "truth_seen_by_gate",
    "truth_unit",
    "truth_words",
    "turn_results",
    "turns_in_words",
    "turns_of",
    "with_rescored",
    "with_threshold",
]
