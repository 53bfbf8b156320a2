"""The chain that a run folder holds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import cast

from turngate.agent.editor import NoImage, NoImageWhy, Usage
from turngate.agent.editors.replay.chain import Chain, Recorded
from turngate.errors import ConfigError
from turngate.traces.images import ImageStore
from turngate.traces.records import AttemptRow, DecisionRow
from turngate.traces.run_folder import RunFolder

__all__ = ["read_run"]

_LOOPS_OWN = ("size_changed:", "model_changed:")
"""Flags that the loop finds out again."""


def read_run(path: Path, everything: bool) -> Chain:
    """All attempts of the run at `path`, or the accepted ones that led to its last image, numbered from turn 1.

    Raises `DamagedRun` when it cannot be read or an image is missing, `ConfigError` when there is nothing to replay.
    """
    run = RunFolder.existing(path)
    info = run.info()
    ledger = run.ledger()
    try:
        rows = {(record.attempt.turn, record.attempt.attempt): record for record in ledger.records()}
    finally:
        ledger.close()
    if everything:
        chosen = [record.attempt for record in rows.values()]
        recorded = [_recorded(row, row.turn, row.attempt, run.images) for row in chosen]
    else:
        chosen = [rows[place].attempt for place in _accepted(record.decision for record in rows.values())]
        recorded = [_recorded(row, turn, 1, run.images) for turn, row in enumerate(chosen, 1)]
    if not recorded:
        hint = "it has no attempts yet" if not rows else "it accepted nothing: replay its candidates with `take: all`"
        raise ConfigError(f"editor.source: nothing to replay in {path}: {hint}")
    simulated = bool(info.resolved.get("simulated")) or any(row.simulated for row in chosen)
    return Chain.of(recorded, str(path), simulated)


def _accepted(decisions: Iterable[DecisionRow]) -> list[tuple[int, int]]:
    """(turn, attempt) of the candidates that led to the last image; those rolled back are not among them."""
    kept: list[tuple[int, int]] = []
    for decision in decisions:
        if decision.taken_attempt is not None:
            kept.append((decision.turn, decision.taken_attempt))
        elif decision.action in ("rollback", "restart"):
            kept = [place for place in kept if place[0] <= decision.image_turn_after]
    return kept


def _recorded(row: AttemptRow, turn: int, attempt: int, images: ImageStore) -> Recorded:
    usage = Usage(row.input_tokens, row.output_tokens, row.reasoning_tokens)  # no cost: a replay has none
    if row.image is None:
        why = cast(NoImageWhy, row.why)
        return Recorded(
            turn, attempt, no_image=NoImage(why, row.detail, row.retryable, row.reasoning, row.model, usage)
        )
    return Recorded(
        turn,
        attempt,
        images.path(row.image),
        row.image,
        made_from=frozenset({row.input_image}),
        instruction=row.instruction,
        reasoning=row.reasoning,
        model=row.model,
        usage=usage,
        damage=row.damage,
        flags=tuple(flag for flag in row.flags if not flag.startswith(_LOOPS_OWN)),
        told={**row.told, "source_turn": row.turn, "source_attempt": row.attempt},
        extras=tuple((images.path(extra["image"]), extra["image"], extra["role"]) for extra in row.extras),
    )
