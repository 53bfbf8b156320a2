"""The numbers that `turngate run`, `show` and the report lead with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run.run_view import AttemptView, RunView, standings
from turngate.traces.records import RunStatus

__all__ = ["Counts", "RunMeasures", "RunSummary", "measure_run", "summarise"]


_TAKEN = {"accept", "force_accept", "keep_best"}


class Counts(FrozenModel):
    """The four counts beside every aggregate of an evaluator; over all attempts of the run."""

    scored: int = 0
    unscored: int = 0
    failed: int = 0
    skipped: int = 0


class RunSummary(FrozenModel):
    """One run in numbers. Turns are counted by how they closed, outcomes by attempt."""

    run: str
    """Folder of the run."""
    id: str
    """Run id."""
    status: RunStatus
    reason: str | None
    """Why the run ended or waits, when there is more to say than the status."""
    simulated: bool
    """The editor's damage was written by hand."""
    turns: int
    """Closed turns; `accepted` + `rejected` + `forced` + `no_change`."""
    turns_planned: int
    attempts: int
    """Editor calls."""
    accepted: int
    """Turns closed by the gate's accept."""
    rejected: int
    """Turns closed without a new image: skip, rollback, restart, stop."""
    forced: int
    """Turns closed by taking a candidate that the gate had rejected."""
    no_change: int
    """Turns closed by accepting an image that is byte-identical to the one edited: not an edit."""
    rejected_attempts: int
    """Candidates that the decision rejected, retries included."""
    no_images: int
    """Editor calls that gave no image."""
    counts: dict[str, Counts]
    """Evaluator -> counts over all attempts."""
    truth: str | None
    """How truth was measured, and the value at which a candidate counts as damaged; None when it is not known."""
    truth_unknown: int | None = None
    """Candidates whose truth could not be measured; they are in none of the four outcomes."""
    caught: int | None = None
    """Attempts: damaged and kept out."""
    propagated: int | None = None
    """Attempts: damaged and let through, forced accepts included."""
    passed: int | None = None
    """Attempts: sound and let through."""
    false_alarms: int | None = None
    """Attempts: sound and kept out."""
    first_damaged_turn: int | None = None
    """First turn with a damaged candidate."""
    first_propagated_turn: int | None = None
    """First turn that let a damaged candidate through."""
    collapse_turn: int | None = None
    """Turn of the second of two damaged images accepted in a row (skipped turns between do not count); absorbing."""
    final_damaged: bool | None = None
    """Whether the image the run ends with is damaged."""
    final_truth: float | None = None
    """Truth of that image, in the measure's unit."""
    cost_usd: float | None
    """Sum of the known costs of editor and judges; None when no call reported one."""
    tokens: int | None
    """Sum of the known input and output tokens of editor and judges."""


def summarise(run: RunView) -> RunSummary:
    """Count what happened."""
    attempts = run.attempts
    closing = [attempt for attempt in attempts if attempt.decision.closes_turn]
    kinds = Counter(_closing_kind(attempt) for attempt in closing)
    used = [usage for attempt in attempts for usage in _usages(attempt)]
    costs = [cost for _, cost in used if cost is not None]
    tokens = [number for number, _ in used if number is not None]
    return RunSummary(
        run=str(run.folder.path),
        id=run.info.run,
        status=run.status,
        reason=_reason(run),
        simulated=run.info.resolved.simulated,
        turns=len(closing),
        turns_planned=run.config.turns,
        attempts=len(attempts),
        accepted=kinds["accepted"],
        rejected=kinds["rejected"],
        forced=kinds["forced"],
        no_change=kinds["no_change"],
        rejected_attempts=sum(attempt.decision.verdict == "reject" for attempt in attempts),
        no_images=sum(attempt.row.outcome == "no_image" for attempt in attempts),
        counts={name: _counts(attempts, name) for name in run.config.evaluators},
        cost_usd=sum(costs) if costs else None,
        tokens=sum(tokens) if tokens else None,
        **_truth(run),
    )


def _usages(attempt: AttemptView) -> Iterator[tuple[int | None, float | None]]:
    """Tokens and cost of the editor call and of each judge."""
    row = attempt.row
    for used in (
        {"input_tokens": row.input_tokens, "output_tokens": row.output_tokens, "cost_usd": row.cost_usd},
        *(score.usage for score in attempt.scores.values()),
    ):
        known = [number for name in ("input_tokens", "output_tokens") if (number := used.get(name)) is not None]
        yield sum(known) if known else None, used.get("cost_usd")


def _closing_kind(attempt: AttemptView) -> str:
    if attempt.decision.action not in _TAKEN:
        return "rejected"
    if attempt.decision.action != "accept":
        return "forced"
    return "no_change" if attempt.row.outcome == "no_change" else "accepted"


def _counts(attempts: list[AttemptView], evaluator: str) -> Counts:
    statuses = Counter(attempt.scores[evaluator].status for attempt in attempts if evaluator in attempt.scores)
    return Counts(**{str(status): number for status, number in statuses.items()})


def _reason(run: RunView) -> str | None:
    ended = [event for event in run.events if event.kind == "ended"]
    if not ended or run.status in ("running", "complete"):
        return None
    return str(ended[-1].data.get("reason") or "") or None


def _truth(run: RunView) -> dict[str, Any]:
    known = [attempt.truth for attempt in run.attempts if attempt.truth is not None]
    base = run.baseline_truth or (known[0] if known else None)
    if base is None:
        return {"truth": None}
    outcomes = Counter(attempt.outcome for attempt in run.attempts)
    taken = [attempt for attempt in run.taken.values() if attempt.row.outcome != "no_change"]
    in_a_row = [second.row.turn for first, second in pairwise(taken) if first.outcome == second.outcome == "propagated"]
    final = standings(run)[-1].truth
    edited = [attempt for attempt in run.attempts if attempt.row.outcome == "edited"]
    return {
        "truth": f"{base.measure}, damaged at {base.damaged_at:g}",
        "truth_unknown": sum(attempt.outcome is None for attempt in edited),
        "caught": outcomes["caught"],
        "propagated": outcomes["propagated"],
        "passed": outcomes["passed"],
        "false_alarms": outcomes["false_alarm"],
        "first_damaged_turn": next((a.row.turn for a in edited if a.truth and a.truth.damaged), None),
        "first_propagated_turn": next((a.row.turn for a in edited if a.outcome == "propagated"), None),
        "collapse_turn": in_a_row[0] if in_a_row else None,
        "final_damaged": final.damaged if final else None,
        "final_truth": final.value if final else None,
    }


@dataclass(frozen=True)
class RunMeasures:
    """Counts and turns of one run. Rates are made from sums over runs, never as means of rates."""

    summary: RunSummary
    damaged: int
    """Candidates that are damaged; `caught` + `propagated`."""
    sound: int
    """Candidates that are sound; `passed` + `false_alarms`."""
    taken: int
    """Turns that ended with a new image, forced accepts included."""
    sound_turns: int
    """Turns that ended with a new and sound image."""
    onset_turn: int | None
    """First turn with a damaged candidate."""
    detected_turn: int | None
    """First turn from the onset on in which a damaged candidate was kept out."""
    last_turn: int
    """Last closed turn."""
    sound_at: tuple[bool | None, ...]
    """Per turn: the image at its end is sound; None where its truth is not known."""
    success_at: tuple[bool | None, ...]
    """Per turn: it ended with a new and sound image; None where that is not known."""

    @property
    def delay(self) -> int | None:
        """Turns from the first damaged candidate to the first that was kept out; None when there was none."""
        if self.onset_turn is None or self.detected_turn is None:
            return None
        return self.detected_turn - self.onset_turn

    @property
    def first_unsound_turn(self) -> int | None:
        """First turn that ended with a damaged image; the survival time of soundness."""
        return next((turn for turn, sound in enumerate(self.sound_at, 1) if sound is False), None)

    def collapsed_by(self, turn: int) -> bool:
        """Two damaged accepted turns in a row came at or before `turn`."""
        return self.summary.collapse_turn is not None and self.summary.collapse_turn <= turn


def measure_run(run: RunView) -> RunMeasures:
    """Count over a run whose truth is known; without a truth the counts are 0 and the lists hold None."""
    summary = summarise(run)
    known = [attempt for attempt in run.attempts if attempt.outcome is not None]
    onset = next((a.row.turn for a in known if a.outcome in ("caught", "propagated")), None)
    detected = next((a.row.turn for a in known if a.outcome == "caught"), None)
    sound_at, success_at = _by_turn(run)
    return RunMeasures(
        summary=summary,
        damaged=sum(attempt.outcome in ("caught", "propagated") for attempt in known),
        sound=sum(attempt.outcome in ("passed", "false_alarm") for attempt in known),
        taken=summary.accepted + summary.forced,
        sound_turns=sum(success is True for success in success_at),
        onset_turn=onset,
        detected_turn=detected,
        last_turn=len(sound_at),
        sound_at=sound_at,
        success_at=success_at,
    )


def _by_turn(run: RunView) -> tuple[tuple[bool | None, ...], tuple[bool | None, ...]]:
    """Soundness of the image after each turn, and whether the turn brought a new and sound one."""
    stands = standings(run)[1:]
    edited = {turn for turn, attempt in run.taken.items() if attempt.row.outcome == "edited"}
    return tuple(stand.sound for stand in stands), tuple(
        stand.sound if stand.turn in edited else False for stand in stands
    )
