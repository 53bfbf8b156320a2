"""The images that a CSV manifest lists, with what each is compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from turngate.errors import ConfigError
from turngate.evaluators import Need
from turngate.evaluators.bulk.item import Item
from turngate.evaluators.image_source import ImageSource
from turngate.manifest import manifest_rows
from turngate.rescoring.targets import Place, Target
from turngate.traces.rescored.table import FILE_NAME

__all__ = ["manifest_target"]

_WHERE = "manifest"
_Text = Annotated[str, BeforeValidator(lambda cell: cell.strip() if isinstance(cell, str) else cell)]


class _Row(BaseModel, use_attribute_docstrings=True):
    """One line; paths are relative to the manifest, or absolute."""

    path: _Text
    id: _Text | None = None
    """Names the image in the table of scores; its path when it is not given."""
    origin: _Text | None = Field(default=None, validation_alias=AliasChoices("origin", "reference"))
    first: _Text | None = None
    previous: _Text | None = None
    instruction: str | None = None
    turn: int | None = Field(default=None, ge=0)
    attempt: int | None = Field(default=None, ge=0)


def manifest_target(file: Path, table: Path | None = None) -> Target:
    """The images that `file` lists; raises `ConfigError` that names the line."""
    items, places = [], {}
    for line, row in manifest_rows(file, _Row, ("path",), _WHERE):
        item = _item(file, line, row)
        if item.id in places:
            raise ConfigError(f"{_WHERE}: {file}, line {line}: {item.id} was listed before: give each row an id")
        items.append(item)
        places[item.id] = Place(row.turn, row.attempt)
    if not items:
        raise ConfigError(f"{_WHERE}: {file} lists no images")
    offers: set[Need] = {"candidate"}
    for role in ("origin", "first", "previous", "instruction"):
        if any(getattr(item, role) is not None for item in items):
            offers.add(role)
    return Target(str(file), table or file.parent / FILE_NAME, tuple(items), len(items), frozenset(offers), places)


def _item(file: Path, line: int, row: _Row) -> Item:
    references: dict[str, Any] = {}
    for role in ("origin", "first", "previous"):
        named = getattr(row, role)
        if named is not None:
            path = file.parent / named
            if not path.is_file():
                raise ConfigError(f"{_WHERE}: {file}, line {line}: {role}: no image at {path}: check the path")
            references[role] = ImageSource(path)
    return Item(row.id or row.path, ImageSource(file.parent / row.path), instruction=row.instruction, **references)
