"""The same run with people's verdicts in the place of its truth."""

from __future__ import annotations

from dataclasses import replace

from turngate.traces.analysis.labels.labels import LabelRow, Labels
from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.records import TruthRow

__all__ = ["MEASURE", "with_labels"]

MEASURE = "labels"
"""Name of the measure in truth rows: 1 is damaged, 0 is sound."""


def with_labels(run: RunView, labels: Labels) -> RunView:
    """The run with the truth of `labels`, and no other: what has no verdict is not known.

    Decisions are those of the run. A masked accept without a label of its own leaves the composite unknown, whatever
    was said of the candidate. `Labels.of` tells which rows have no image in the run.
    """
    given = labels.of(run)

    def anew(attempt: AttemptView) -> AttemptView:
        row = attempt.row
        composite = attempt.composite
        if composite is not None:
            standing = _truth(given.composites.get(row.turn), row.turn, row.attempt)
            told = standing.model_dump(exclude={"turn", "attempt"}) if standing else None
            composite = {**composite, "truth": told}
        truth = _truth(given.candidates.get((row.turn, row.attempt)), row.turn, row.attempt)
        return replace(attempt, truth=truth, composite=composite)

    # The direction is that of this measure now: lower is better, as without an evaluator as truth.
    info = run.info.model_copy(update={"resolved": {**run.info.resolved, "truth": None}})
    attempts = [anew(attempt) for attempt in run.attempts]
    return replace(run, info=info, attempts=attempts, baseline_truth=_truth(given.origin, 0, 0))


def _truth(row: LabelRow | None, turn: int, attempt: int) -> TruthRow | None:
    if row is None or row.damaged is None:
        return None
    return TruthRow(
        turn=turn,
        attempt=attempt,
        measure=MEASURE,
        value=float(row.damaged),
        damaged_at=1.0,
        damaged=row.damaged,
        detail=row.source,
    )
