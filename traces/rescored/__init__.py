"""Scores that were computed after the fact, beside what they are of. The ledger stays the record of what happened."""

from turngate.traces.rescored.records import ScoredRow, ScoringPass, ScoringPassEnd
from turngate.traces.rescored.table import Coverage, ScoreTable, coverage, read_scores

__all__ = ["Coverage", "ScoreTable", "ScoredRow", "ScoringPass", "ScoringPassEnd", "coverage", "read_scores"]
