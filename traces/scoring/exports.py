"""Scores as CSV and Parquet, one line per result."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from turngate.errors import MissingExtra
from turngate.traces.rescored.records import ScoredRow
from turngate.traces.rescored.table import ScoreTable

__all__ = ["score_lines", "write_scores_csv", "write_scores_parquet"]


def score_lines(tables: Iterable[tuple[str, Path]]) -> Iterator[dict[str, Any]]:
    """Rows of (name, file) tables with `of` (the name) before them; lists and mappings as JSON text."""
    for name, path in tables:
        table = ScoreTable(path, read_only=True)
        try:
            rows = table.scores()
        finally:
            table.close()
        for row in rows:
            yield {"of": name, **{field: _cell(value) for field, value in row.model_dump(mode="json").items()}}


def write_scores_csv(lines: Iterable[dict[str, Any]], file: TextIO) -> int:
    """Write a header and one line per result; returns how many."""
    writer = csv.DictWriter(file, fieldnames=["of", *ScoredRow.model_fields])
    writer.writeheader()
    count = 0
    for line in lines:
        writer.writerow(line)
        count += 1
    return count


def write_scores_parquet(lines: Iterable[dict[str, Any]], path: Path) -> int:
    """Write a Parquet file; raises `MissingExtra` without pyarrow. Returns the number of rows."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow: pip install 'turngate[parquet]'") from None
    rows = list(lines)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return len(rows)


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
