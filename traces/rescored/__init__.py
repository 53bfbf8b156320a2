"""Scores that were computed after the fact, beside what they are of. The ledger stays the record of what happened."""

from turngate.traces.rescored.records import PassEndRow, PassRow, ScoredRow
from turngate.traces.rescored.table import Coverage, ScoreTable, coverage, read_scores

__all__ = ["Coverage", "PassEndRow", "PassRow", "ScoreTable", "ScoredRow", "coverage", "read_scores"]
