"""The same run under another threshold of `damaged`, and its outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from turngate.component import Direction
from turngate.traces.analysis.run.run_view import AttemptView, Outcome, RunView, attempt_views
from turngate.traces.records import AttemptRecord, TruthRow, is_damaged

__all__ = ["outcomes", "truth_direction", "with_threshold"]


def truth_direction(run: RunView) -> Direction:
    """Which way the run's truth is better: a reference metric's own; a simulator's damage is better when lower."""
    truth = run.info.resolved.truth
    return truth.direction if truth is not None else "lower"


def with_threshold(run: RunView, damaged_at: float) -> RunView:
    """The run with `damaged` taken anew from the recorded truth values.

    What was recorded stays: decisions are those of the run. A gate that saw the truth (the oracle) saw the old one.
    """
    better = truth_direction(run)

    def again(row: TruthRow | None) -> TruthRow | None:
        if row is None:
            return None
        damaged = is_damaged(row.value, damaged_at, better)
        return row.model_copy(update={"damaged": damaged, "damaged_at": damaged_at})

    def anew(attempt: AttemptView) -> AttemptView:
        composite = attempt.composite
        if composite is not None:
            composite = composite.model_copy(update={"truth": again(composite.truth)})
        return replace(attempt, truth=again(attempt.truth), composite=composite)

    attempts = [anew(attempt) for attempt in run.attempts]
    return replace(run, attempts=attempts, baseline_truth=again(run.baseline_truth))


def outcomes(records: Sequence[AttemptRecord]) -> dict[Outcome, int]:
    """Candidates by what happened to them under the records' decisions; without a known truth they are not counted."""
    found: Counter[Outcome] = Counter({"caught": 0, "propagated": 0, "passed": 0, "false_alarm": 0})
    found.update(view.outcome for view in attempt_views(records) if view.outcome is not None)
    return dict(found)
