"""The same run under another threshold of `damaged`."""

from __future__ import annotations

from dataclasses import replace

from turngate.component import Direction
from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.records import CompositeRow, TruthRow, is_damaged

__all__ = ["truth_direction", "truth_unit", "with_threshold"]


def truth_direction(run: RunView) -> Direction:
    """Which way the run's truth is better: a reference metric's own; a simulator's damage is better when lower."""
    truth = run.info.resolved.truth
    return truth.direction if truth is not None else "lower"


_UNITS = {"psnr": "dB", "ciede2000": "CIEDE2000", "control_regions": "levels", "outside_edit": "levels"}
"""Unit of each measure that has one."""


def truth_unit(run: RunView) -> str:
    """Unit of the run's truth, to print at its numbers; empty for a measure without one and without a truth."""
    truth = run.baseline_truth or next((one.truth for one in run.attempts if one.truth is not None), None)
    return _UNITS.get(truth.measure, "") if truth is not None else ""


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

    def composed(row: CompositeRow | None) -> CompositeRow | None:
        return None if row is None else row.model_copy(update={"truth": again(row.truth)})

    def anew(attempt: AttemptView) -> AttemptView:
        made, composite = composed(attempt.made), composed(attempt.composite)
        return replace(attempt, truth=again(attempt.truth), made=made, composite=composite)

    attempts = [anew(attempt) for attempt in run.attempts]
    return replace(run, attempts=attempts, baseline_truth=again(run.baseline_truth))
