"""The same run under another threshold of `damaged`, and its outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from turngate.component import Direction
from turngate.traces.analysis.run.run_view import AttemptView, Outcome, RunView
from turngate.traces.records import AttemptRow, DecisionRow, TruthRow

__all__ = ["outcomes", "truth_direction", "with_threshold"]


def truth_direction(run: RunView) -> Direction:
    """Which way the run's truth is better: a reference metric's own; a simulator's damage is better when lower."""
    truth = run.info.resolved.get("truth") or {}
    return "higher" if truth.get("direction") == "higher" else "lower"


def with_threshold(run: RunView, damaged_at: float) -> RunView:
    """The run with `damaged` taken anew from the recorded truth values.

    What was recorded stays: decisions are those of the run. A gate that saw the truth (the oracle) saw the old one.
    """
    higher = truth_direction(run) == "higher"

    def again(row: TruthRow | None) -> TruthRow | None:
        if row is None:
            return None
        damaged = None
        if row.value is not None:
            damaged = row.value <= damaged_at if higher else row.value >= damaged_at
        return row.model_copy(update={"damaged": damaged, "damaged_at": damaged_at})

    def anew(attempt: AttemptView) -> AttemptView:
        composite = attempt.composite
        if composite is not None:
            composite = composite.model_copy(update={"truth": again(composite.truth)})
        return replace(attempt, truth=again(attempt.truth), composite=composite)

    attempts = [anew(attempt) for attempt in run.attempts]
    return replace(run, attempts=attempts, baseline_truth=again(run.baseline_truth))


# The four outcomes of decisions that were made again.


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
