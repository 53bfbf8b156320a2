"""Scores that were computed after the fact, beside what they are of. The ledger stays the record of what happened."""

from turngate.traces.rescored.records import SCORE_TABLES, ScoredRow, ScoringPass, ScoringPassEnd
from turngate.traces.rescored.table import (
    FILE_NAME,
    Coverage,
    KnownResult,
    ScoreTable,
    coverage,
    read_scores,
    score_lines,
    write_scores_csv,
    write_scores_parquet,
)

__all__ = [
    "FILE_NAME",
    "SCORE_TABLES",
    "Coverage",
    "KnownResult",
    "ScoreTable",
    "ScoredRow",
    "ScoringPass",
    "ScoringPassEnd",
    "coverage",
    "read_scores",
    "score_lines",
    "write_scores_csv",
    "write_scores_parquet",
]
