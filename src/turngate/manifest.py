"""CSV files that list images: UTF-8, commas, a header that names the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from turngate.errors import ConfigError
from turngate.registry import explain

__all__ = ["manifest_rows"]

M = TypeVar("M", bound=BaseModel)


def manifest_rows(file: Path, model: type[M], needed: tuple[str, ...], where: str) -> Iterator[tuple[int, M]]:
    """Number of the line that each row ends on, and the row; columns that `model` does not have are left alone.

    Empty cells count as not given. Raises `ConfigError` that starts with `where` and names file and line.
    """
    for line, cells in _lines(file, needed, where):
        try:
            yield line, model.model_validate({name: cell for name, cell in cells.items() if cell.strip()})
        except ValidationError as error:
            raise ConfigError(explain(error, model, f"{where}: {file}, line {line}")) from None


def _lines(file: Path, needed: tuple[str, ...], where: str) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{where}: {file} is no text in UTF-8: give a folder or a CSV manifest") from None
    except OSError as error:
        raise ConfigError(f"{where}: cannot read {file}: {error.strerror or error}") from None
    rows: Any = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        if not set(needed) <= set(header):
            columns = f"{'columns' if len(needed) > 1 else 'column'} {' and '.join(needed)}"
            raise ConfigError(
                f"{where}: {file}: a manifest's first line names the {columns}, separated by commas; this one says "
                f"{','.join(header)[:80]!r}"
            )
        twice = next((name for name in header if name and header.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"{where}: {file}, line 1: the column {twice!r} is there twice: keep one")
        for cells in rows:
            if len(cells) > len(header):
                raise ConfigError(
                    f"{where}: {file}, line {rows.line_num}: {len(cells)} cells under {len(header)} columns: put cells "
                    "that hold a comma in double quotes"
                )
            if any(cell.strip() for cell in cells):
                yield rows.line_num, dict(zip(header, cells, strict=False))
    except csv.Error as error:
        raise ConfigError(f"{where}: {file}, line {rows.line_num}: {error}") from None
