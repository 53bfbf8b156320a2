"""The attempt that waits for a person. It is in no table yet but that of the calls."""

from __future__ import annotations

from dataclasses import dataclass

from turngate.errors import UserError
from turngate.traces.analysis.run.run_view import RunView

__all__ = ["Waiting", "check_waiting", "waiting_in"]


@dataclass(frozen=True)
class Waiting:
    """What a person must decide about."""

    turn: int
    attempt: int
    reason: str
    candidate: str | None
    """SHA-256; None when the editor gave no image."""
    current: str
    """SHA-256 of the image that was edited."""
    reasoning: str
    size: str
    """Width x height of the candidate in pixels."""


def check_waiting(view: RunView, turn: int, attempt: int) -> None:
    """Raise `UserError` when the run does not wait for a decision about this attempt."""
    held = waiting_in(view)
    if held is None or (held.turn, held.attempt) != (turn, attempt):
        raise UserError("the run does not wait for this decision any more: load the page again")


def waiting_in(view: RunView) -> Waiting | None:
    """The attempt that the run waits for, or None."""
    ended = [event for event in view.events if event.kind == "ended"]
    if view.status != "waiting" or not ended or "turn" not in ended[-1].data:
        return None
    told = ended[-1].data
    turn, attempt = int(told["turn"]), int(told["attempt"])
    ledger = view.folder.ledger()
    try:
        calls = [call for call in ledger.calls() if (call.kind, call.turn, call.attempt) == ("edit", turn, attempt)]
    finally:
        ledger.close()
    answer = calls[-1].answer if calls else {}
    origin = str(view.info.origin["image"])
    current = view.attempts[-1].decision.image_after if view.attempts else origin
    return Waiting(
        turn=turn,
        attempt=attempt,
        reason=str(told.get("reason") or ""),
        candidate=answer.get("image"),
        current=origin if view.info.config.get("history") == "origin" else current,
        reasoning=str(answer.get("reasoning") or ""),
        size=f"{answer.get('width')} x {answer.get('height')}",
    )
