"""Reads calibration scores from a CSV or JSON file. Helper of the conformal gate."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

from turngate.registry import nearest

__all__ = ["read_scores"]


def read_scores(path: Path, column: str | None) -> list[float]:
    """Numbers of a column of a CSV file or of a list of JSON objects, or of a plain JSON list.

    Empty cells and nulls (images without a score) are left out. Raises `ValueError` that names file and row.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"there is no file at {path}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    cells = _json(path, text, column) if path.suffix.lower() == ".json" else _csv(path, text, column)
    return [_number(path, row, cell) for row, cell in enumerate(cells, 1) if cell not in (None, "")]


def _json(path: Path, text: str, column: str | None) -> list[Any]:
    try:
        rows = json.loads(text)
    except ValueError:
        raise ValueError(f"{path} is not valid JSON") from None
    if not isinstance(rows, list):
        raise ValueError(f"{path} must hold a list, of numbers or of objects with a `column`")
    if column is None:
        return rows
    return [_cell(path, row, column) if isinstance(row, dict) else row for row in rows]


def _csv(path: Path, text: str, column: str | None) -> list[Any]:
    if column is None:
        raise ValueError(f"say with `column` which column of {path} holds the scores")
    return [_cell(path, row, column) for row in csv.DictReader(text.splitlines())]


def _cell(path: Path, row: dict[Any, Any], column: str) -> Any:
    if column not in row:
        raise ValueError(f"{path} has no column {column!r}{nearest(column, [str(name) for name in row])}")
    return row[column]


def _number(path: Path, row: int, cell: Any) -> float:
    try:
        number = float(cell) if not isinstance(cell, bool) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{path}, row {row}: {cell!r} is not a finite number")
    return number
