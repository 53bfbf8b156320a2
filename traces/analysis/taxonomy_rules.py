"""What the rules of the failure taxonomy have in common: what was asked for, and what a candidate was made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.analysis.taxonomy import FailureName, Judgement
from turngate.traces.records import ScoreRow

__all__ = ["candidates", "frame_stays", "judged", "operation", "scores_of", "taken_images"]

_OPERATIONS = {"mirror_twice": "mirror", "rotate_four_times": "rotate"}
_FRAME_STAYS = frozenset({"add_apple", "add_fruits", "decolorise_recolorise"})


def operation(run: RunView) -> str | None:
    """`mirror` or `rotate`, where every turn asks for it."""
    return _OPERATIONS.get(str(run.info.config["scenario"]["type"]))


def frame_stays(run: RunView) -> bool:
    """Every turn asks for an image with the frame and the surface of the one before. False where that is not known."""
    ideal = run.info.resolved.get("scenario", {}).get("ideal")
    return ideal == "origin" or run.info.config["scenario"]["type"] in _FRAME_STAYS


def candidates(run: RunView) -> Iterator[AttemptView]:
    """Attempts that gave a new image."""
    return (attempt for attempt in run.attempts if attempt.row.outcome == "edited")


def taken_images(run: RunView) -> dict[int, AttemptView]:
    """Turn -> the attempt whose image it ended with; a composite is no editor's image and is left out."""
    return {one.row.turn: one for one in run.attempts if one.taken and one.composite is None}


def scores_of(
    run: RunView, type_: str, attempt: AttemptView, given: AttemptView | None
) -> Iterator[tuple[str, dict[str, Any], ScoreRow, ScoreRow | None]]:
    """Scored results of every evaluator of a type: its name, its settings, its score of the candidate, and of the image
    that was edited (`given`, or the origin), where there is one."""
    for name, score in attempt.scores.items():
        if score.type == type_ and score.status == "scored":
            before = run.baseline if attempt.row.input_turn == 0 else given.scores if given else {}
            yield name, run.info.config["evaluators"].get(name, {}), score, before.get(name)


def judged(attempt: AttemptView, name: FailureName, found: bool, source: str, evidence: str) -> Judgement:
    """A judgement of one candidate."""
    row = attempt.row
    return Judgement(turn=row.turn, attempt=row.attempt, name=name, found=found, source=source, evidence=evidence)
