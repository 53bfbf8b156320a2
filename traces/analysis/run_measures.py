"""One run in the numbers that a study adds up."""

from __future__ import annotations

from dataclasses import dataclass

from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.analysis.run.summary import RunSummary, summarise

__all__ = ["RunMeasures", "measure_run"]


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
    sound_of: dict[int, bool | None] = {0: _sound(run.baseline_truth.damaged if run.baseline_truth else None)}
    by_key = {(attempt.row.turn, attempt.row.attempt): attempt for attempt in run.attempts}
    sound_at: list[bool | None] = []
    success_at: list[bool | None] = []
    for closing in run.attempts:
        decision = closing.decision
        if not decision.closes_turn:
            continue
        taken = by_key[decision.turn, decision.taken_attempt] if decision.taken_attempt is not None else None
        if taken is not None:
            sound_of[decision.turn] = _sound_image(taken, sound_of)
        sound_at.append(sound_of.get(decision.image_turn_after))
        new = taken is not None and taken.row.outcome == "edited"
        success_at.append(sound_of[decision.turn] if new else False)
    return tuple(sound_at), tuple(success_at)


def _sound_image(taken: AttemptView, sound_of: dict[int, bool | None]) -> bool | None:
    if taken.row.outcome == "no_change":  # the same bytes are as sound as they were
        return sound_of.get(taken.row.input_turn)
    return _sound(taken.standing.damaged if taken.standing else None)


def _sound(damaged: bool | None) -> bool | None:
    return None if damaged is None else not damaged
