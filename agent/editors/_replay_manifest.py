"""The chain that a CSV manifest lists: the way in for recordings of any layout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from turngate.agent.editors._replay_image import identify
from turngate.agent.editors.replay.chain import Chain, Recorded, linked
from turngate.errors import ConfigError
from turngate.manifest import manifest_rows

__all__ = ["read_manifest"]

Text = Annotated[str | None, BeforeValidator(lambda cell: cell.strip() or None)]


class _Row(BaseModel, use_attribute_docstrings=True, allow_inf_nan=False):
    """One line; columns that are not here are left alone."""

    turn: int = Field(ge=0)
    """0 for the origin."""
    path: Annotated[str, BeforeValidator(str.strip), Field(min_length=1)]
    """Of the image; relative to the manifest, or absolute."""
    attempt: int = Field(default=1, ge=1)
    reasoning: Text = None
    model: Text = None
    damage: float | None = None
    """Only a simulator knows it: a chain with damage on record is marked as simulated."""


def read_manifest(file: Path) -> Chain:
    """The chain in a CSV file (UTF-8, commas, a header) with columns `turn`, `path` and perhaps the others of `_Row`.

    Raises `ConfigError` or `BadImage` that names file and line.
    """
    recorded = []
    for line, row in manifest_rows(file, _Row, ("turn", "path"), "editor.source"):
        image = file.parent / row.path
        recorded.append(
            Recorded(
                row.turn,
                row.attempt,
                image,
                identify(image, f"editor.source: {file}, line {line} (turn {row.turn})"),
                reasoning=row.reasoning,
                model=row.model,
                damage=row.damage,
            )
        )
    if not any(one.turn for one in recorded):
        raise ConfigError(f"editor.source: {file} lists no image of a turn above 0")
    simulated = any(one.damage is not None for one in recorded)
    return Chain.of(linked(recorded), str(file), simulated)
