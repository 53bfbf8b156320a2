"""State of the LangGraph machine: plain JSON and hashes, the same size at turn 100 as at turn 1."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from turngate.traces.progress import Progress
from turngate.traces.records import AttemptRow, ScoreRow, TruthRow

__all__ = ["LoopState", "attempt_of", "first_state", "merge_scores", "position_of", "scores_of", "state_of", "truth_of"]


def merge_scores(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Reducer: evaluators write side by side; the gate resets the channel with `Overwrite`."""
    return {**old, **new}


class ProgressChannels(TypedDict):
    """Where the run stands."""

    turn: int
    """Turn that is owed, 1-based."""
    attempt: int
    """Attempt that is owed, 1-based."""
    image: str
    """SHA-256 of the current image."""
    image_turn: int
    """Turn that accepted it; 0 for the origin."""
    status: str
    """`running` until the run ends or waits."""


class LoopState(ProgressChannels):
    """Everything that travels along the edges."""

    candidate: dict[str, Any] | None
    """The editor's answer: an attempt row as JSON."""
    scores: Annotated[dict[str, Any], merge_scores]
    """Evaluator -> score row as JSON, for this attempt only."""
    truth: dict[str, Any] | None
    """Truth row as JSON; read by the gate node for the oracle and for the record."""


def state_of(progress: Progress) -> ProgressChannels:
    """The position as channels; without its lineage, which grows with the turns."""
    return ProgressChannels(
        turn=progress.turn,
        attempt=progress.attempt,
        image=progress.image,
        image_turn=progress.image_turn,
        status=progress.status,
    )


def first_state(progress: Progress) -> LoopState:
    """The machine's input for a run that stands at `progress`."""
    return LoopState(**state_of(progress), candidate=None, scores={}, truth=None)


def position_of(state: LoopState, lineage: tuple[tuple[int, str], ...]) -> Progress:
    """The position that the state stands for; the lineage comes from the session, for it grows with the turns."""
    return Progress(state["turn"], state["attempt"], state["image"], state["image_turn"], lineage, state["status"])


def attempt_of(state: LoopState) -> AttemptRow:
    """The candidate's row."""
    return AttemptRow.model_validate(state["candidate"])


def scores_of(state: LoopState) -> list[ScoreRow]:
    """The score rows of this attempt."""
    return [ScoreRow.model_validate(row) for row in state["scores"].values()]


def truth_of(state: LoopState) -> TruthRow | None:
    """The truth row of this attempt."""
    return TruthRow.model_validate(state["truth"]) if state["truth"] else None
