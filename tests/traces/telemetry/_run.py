"""Runs written row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from turngate.traces.records import AttemptRecord, AttemptRow, DecisionRow, ScoreRow, TruthRow
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.telemetry import Dropped, TelemetryConfig, TelemetryRecorder

START = 1_790_000_000_000_000_000
"""Unix nanoseconds at which every run of these tests begins."""
MS = 1_000_000
TURN = 100 * MS
"""From one attempt to the next."""
RETRY: dict[str, Any] = {"verdict": "reject", "action": "retry"}
"""What an attempt is written with that another one follows."""


@dataclass
class Run:
    """A run in a folder, written as the loop writes it."""

    folder: RunFolder
    info: RunInfo

    def begin(self) -> None:
        """Record that a process took up the run."""
        self._ledger(lambda ledger: ledger.add_event("started", {}))

    def finish(self, status: str = "complete", reason: str = "") -> None:
        """Record that the process ended its work."""
        self._ledger(lambda ledger: ledger.add_event("ended", {"status": status, "reason": reason}))

    def attempt(
        self,
        turn: int,
        attempt: int = 1,
        *,
        verdict: str = "accept",
        action: str | None = None,
        scores: tuple[dict[str, Any], ...] = ({},),
        truth: float | None = None,
        decision: dict[str, Any] | None = None,
        **fields: Any,
    ) -> AttemptRecord:
        """Record one attempt and give back what the loop hands to its observers."""
        at = START + (turn * 10 + attempt) * TURN
        accepted = verdict == "accept"
        action = action or ("accept" if accepted else "skip")
        has_image = fields.get("outcome", "edited") != "no_image"
        image = f"{turn:032x}{attempt:032x}"
        candidate = {"image": image, "media_type": "image/png", "width": 64, "height": 48, "size_bytes": 900}
        row = AttemptRow.model_validate(
            {
                "turn": turn,
                "attempt": attempt,
                "seed": 1000 * turn + attempt,
                "instruction": f"mirror the picture, step {turn}",
                "history": "previous",
                "input_image": "0" * 64,
                "input_turn": turn - 1,
                "outcome": "edited",
                "started_ns": at,
                "ended_ns": at + 40 * MS,
                **(candidate if has_image else {}),
                **fields,
            }
        )
        score_rows = tuple(
            ScoreRow.model_validate(
                {
                    "turn": turn,
                    "attempt": attempt,
                    "evaluator": "niqe",
                    "type": "niqe",
                    "version": "1",
                    "status": "scored",
                    "direction": "lower",
                    "started_ns": at + 41 * MS,
                    "ended_ns": at + (50 + number) * MS,
                    **({"value": 3.5} if score.get("status", "scored") == "scored" else {}),
                    **score,
                }
            )
            for number, score in enumerate(scores)
        )
        truth_row = None
        if truth is not None:
            truth_row = TruthRow(
                turn=turn, attempt=attempt, measure="psnr", value=truth, damaged_at=20.0, damaged=truth <= 20.0
            )
        decided = DecisionRow.model_validate(
            {
                "turn": turn,
                "attempt": attempt,
                "verdict": verdict,
                "rule": "gate",
                "reason": "niqe 3.5 is within 0.3 of the first accepted image",
                "evidence": {"niqe": 3.5, "limit": 3.8},
                "thresholds": {"niqe": 3.8},
                "action": action,
                "taken_attempt": attempt if accepted else None,
                "image_after": image if accepted and has_image else "0" * 64,
                "image_turn_after": turn if accepted else turn - 1,
                "closes_turn": action != "retry",
                "status_after": "running",
                "at_ns": at + 60 * MS,
                **(decision or {}),
            }
        )
        self._ledger(lambda ledger: ledger.record(row, score_rows, truth_row, decided))
        return AttemptRecord(row, score_rows, truth_row, decided)

    def _ledger(self, write: Callable[[Any], object]) -> None:
        ledger = self.folder.ledger(read_only=False, durable=False)
        try:
            write(ledger)
        finally:
            ledger.close()


def drive(run: Run, recorder: TelemetryRecorder, turns: int = 2) -> None:
    """Let a process that has this recorder do the whole run."""
    run.begin()
    recorder.started(run.info, 0)
    for turn in range(1, turns + 1):
        recorder.attempt(run.attempt(turn))
    run.finish()
    recorder.ended("complete", None, 0)


def send(run: Run, collector: Any, *records: Any, status: str = "complete", reason: str | None = None) -> Dropped:
    """Send attempts, or what makes them, of a run that has begun, and its end."""
    recorder = TelemetryRecorder(TelemetryConfig(exporter="otlp"), run.folder.path, endpoint=collector.url)
    recorder.started(run.info, 5)
    for record in records:
        recorder.attempt(record() if callable(record) else record)
    run.finish(status, reason or "")
    recorder.ended(status, reason, 9)
    return recorder.close()
