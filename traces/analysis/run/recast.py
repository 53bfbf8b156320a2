"""The same run under another threshold of `damaged`."""

from __future__ import annotations

from dataclasses import replace

from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.records import TruthRow

__all__ = ["higher_is_better", "with_threshold"]


def higher_is_better(run: RunView) -> bool:
    """Direction of the run's truth: a reference metric's own; the simulator's damage is better when lower."""
    truth = run.info.resolved.get("truth")
    return truth is not None and truth["direction"] == "higher"


def with_threshold(run: RunView, damaged_at: float) -> RunView:
    """The run with `damaged` taken anew from the recorded truth values.

    What was recorded stays: decisions are those of the run. A gate that saw the truth (the oracle) saw the old one.
    """
    higher = higher_is_better(run)

    def again(row: TruthRow | None) -> TruthRow | None:
        if row is None:
            return None
        damaged = None
        if row.value is not None:
            damaged = row.value <= damaged_at if higher else row.value >= damaged_at
        return row.model_copy(update={"damaged": damaged, "damaged_at": damaged_at})

    def anew(attempt: AttemptView) -> AttemptView:
        composite = attempt.composite
        standing = again(attempt.standing)
        if composite is not None and standing is not None:
            composite = {**composite, "truth": standing.model_dump(exclude={"turn", "attempt"})}
        return replace(attempt, truth=again(attempt.truth), composite=composite)

    attempts = [anew(attempt) for attempt in run.attempts]
    return replace(run, attempts=attempts, baseline_truth=again(run.baseline_truth))
