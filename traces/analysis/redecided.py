"""The four outcomes of decisions that were made again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from turngate.traces.analysis.run.run_view import Outcome
from turngate.traces.records import AttemptRow, DecisionRow, TruthRow

__all__ = ["outcomes"]


def outcomes(decided: Iterable[tuple[AttemptRow, TruthRow | None, DecisionRow]]) -> dict[Outcome, int]:
    """Candidates by what happened to them under these decisions; those without a known truth are not counted."""
    rows = list(decided)
    taken = {(row.turn, row.taken_attempt) for _, _, row in rows if row.taken_attempt is not None}
    found: Counter[Outcome] = Counter({"caught": 0, "propagated": 0, "passed": 0, "false_alarm": 0})
    for attempt, truth, row in rows:
        if attempt.outcome != "edited" or truth is None or truth.damaged is None:
            continue
        kept = (row.turn, row.attempt) in taken
        if truth.damaged:
            found["propagated" if kept else "caught"] += 1
        else:
            found["passed" if kept else "false_alarm"] += 1
    return dict(found)
