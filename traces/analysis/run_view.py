"""A whole run, read from its folder once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from turngate.traces.records import AttemptRow, DecisionRow, EventRow, RunStatus, ScoreRow, TruthRow
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.status import run_status

__all__ = ["AttemptView", "Outcome", "RunView"]

Outcome = Literal["caught", "propagated", "passed", "false_alarm"]
"""What happened to a candidate whose truth is known: kept out or let through, damaged or sound."""


@dataclass(frozen=True)
class AttemptView:
    """One attempt with its scores, truth and decision."""

    row: AttemptRow
    scores: dict[str, ScoreRow]
    """Evaluator name -> result."""
    truth: TruthRow | None
    decision: DecisionRow
    taken: bool
    """The candidate became the current image (a forced accept included)."""

    @property
    def outcome(self) -> Outcome | None:
        """What happened to the candidate; None when there is none, nothing changed, or the truth is not known."""
        if self.row.outcome != "edited" or self.truth is None or self.truth.damaged is None:
            return None
        if self.truth.damaged:
            return "propagated" if self.taken else "caught"
        return "passed" if self.taken else "false_alarm"


@dataclass(frozen=True)
class RunView:
    """Everything recorded about a run."""

    folder: RunFolder
    info: RunInfo
    status: RunStatus
    baseline: dict[str, ScoreRow]
    """Scores of the origin (turn 0)."""
    baseline_truth: TruthRow | None
    attempts: list[AttemptView]
    """In order of turn and attempt."""
    events: list[EventRow]

    @classmethod
    def load(cls, path: Path) -> RunView:
        """Read the run at `path`; raises `NoSuchRun` or `DamagedRun`."""
        folder = RunFolder.existing(path)
        info = folder.info()
        ledger = folder.ledger()
        try:
            attempts, scores, truths = ledger.attempts(), ledger.scores(), ledger.truths()
            decisions, events = ledger.decisions(), ledger.events()
        finally:
            ledger.close()
        by_attempt: dict[tuple[int, int], dict[str, ScoreRow]] = defaultdict(dict)
        for score in scores:
            by_attempt[score.turn, score.attempt][score.evaluator] = score
        truth_of = {(truth.turn, truth.attempt): truth for truth in truths}
        decision_of = {(decision.turn, decision.attempt): decision for decision in decisions}
        taken = {(row.turn, row.taken_attempt) for row in decisions if row.taken_attempt is not None}
        views = [
            AttemptView(row, by_attempt[key], truth_of.get(key), decision_of[key], key in taken)
            for row in attempts
            if (key := (row.turn, row.attempt)) in decision_of
        ]
        status = run_status(folder.path, decisions, events)
        return cls(folder, info, status, by_attempt[0, 0], truth_of.get((0, 0)), views, events)
