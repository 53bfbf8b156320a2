"""The chain that a CSV manifest lists: the way in for recordings of any layout."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from turngate.agent.editors._replay_chain import Chain, Recorded, linked
from turngate.agent.editors._replay_image import identify
from turngate.errors import ConfigError
from turngate.registry import explain

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
    for line, cells in _lines(file):
        where = f"editor.source: {file}, line {line}"
        try:
            row = _Row.model_validate({name: cell for name, cell in cells.items() if cell.strip()})
        except ValidationError as error:
            raise ConfigError(explain(error, _Row, where)) from None
        image = file.parent / row.path
        recorded.append(
            Recorded(
                row.turn,
                row.attempt,
                image,
                identify(image, f"{where} (turn {row.turn})"),
                reasoning=row.reasoning,
                model=row.model,
                damage=row.damage,
            )
        )
    if not any(one.turn for one in recorded):
        raise ConfigError(f"editor.source: {file} lists no image of a turn above 0")
    simulated = any(one.damage is not None for one in recorded)
    return Chain.of(linked(recorded), str(file), simulated)


def _lines(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Number of the line that each row ends on, and its cells by column."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"editor.source: {file} is no text in UTF-8: give a folder or a CSV manifest") from None
    except OSError as error:
        raise ConfigError(f"editor.source: cannot read {file}: {error.strerror or error}") from None
    rows: Any = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        if not {"turn", "path"} <= set(header):
            raise ConfigError(
                f"editor.source: {file}: a manifest's first line names the columns turn and path, separated by "
                f"commas; this one says {','.join(header)[:80]!r}"
            )
        for cells in rows:
            if len(cells) > len(header):
                raise ConfigError(
                    f"editor.source: {file}, line {rows.line_num}: {len(cells)} cells under {len(header)} columns: "
                    "put cells that hold a comma in double quotes"
                )
            if any(cell.strip() for cell in cells):
                yield rows.line_num, dict(zip(header, cells, strict=False))
    except csv.Error as error:
        raise ConfigError(f"editor.source: {file}, line {rows.line_num}: {error}") from None
