"""Exports of a run: JSONL, and one flat row per attempt for CSV and Parquet."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from turngate.errors import MissingExtra
from turngate.traces.analysis.run import (
    AttemptView,
    DamageEpisode,
    RunView,
    TurnResult,
    damage_episodes,
    stretch_of,
    turn_results,
)
from turngate.traces.records import AttemptRow

__all__ = [
    "TableName",
    "episode_rows",
    "read_jsonl",
    "row_objects",
    "turn_rows",
    "write_csv",
    "write_jsonl",
    "write_parquet",
]


class Writable(Protocol):
    """What rows are written to."""

    def write(self, text: str, /) -> object:
        """Take in some text."""


TableName = Literal["attempts", "turns", "episodes"]
"""What can be exported: the attempts as recorded, or what the answer makes of them."""


def table_rows(run: RunView, table: TableName) -> list[dict[str, Any]]:
    """The rows of a table as flat mappings."""
    return {"attempts": flat_rows, "turns": turn_rows, "episodes": episode_rows}[table](run)


def flat_rows(run: RunView) -> list[dict[str, Any]]:
    """Attempts with `score.NAME`, `status.NAME`, `truth.*`, `decision.*` and `composite.*` columns.

    Of further truths `truth.NAME.*` and `composite.truth.NAME.*`. Lists and mappings are JSON text.
    """
    return [_flat(run, view) for view in run.attempts]


def write_csv(run: RunView, file: Writable, table: TableName = "attempts") -> int:
    """Write a header and one line per row of the table; returns how many."""
    rows = table_rows(run, table)
    writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else _columns(table))
    writer.writeheader()
    writer.writerows(rows)
    return len(rows)


def write_parquet(run: RunView, path: Path, table: TableName = "attempts") -> int:
    """Write a Parquet file; raises `MissingExtra` without pyarrow. Returns the number of rows."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow: pip install 'turngate[parquet]'") from None
    rows = table_rows(run, table)
    made = pyarrow.Table.from_pylist(rows) if rows else pyarrow.table({name: [] for name in _columns(table)})
    pyarrow.parquet.write_table(made, path)
    return len(rows)


def _columns(table: TableName) -> list[str]:
    """Columns of a table without rows: a run without an episode has an empty table, not none."""
    models: dict[TableName, tuple[type[BaseModel], list[str]]] = {
        "attempts": (AttemptRow, []), "turns": (TurnResult, []), "episodes": (DamageEpisode, ["delay"]),
    }  # fmt: skip
    model, more = models[table]
    return ["run", *model.model_fields, *more]


def _flat(run: RunView, view: AttemptView) -> dict[str, Any]:
    flat: dict[str, Any] = {"run": run.info.run}
    flat |= {name: _cell(value) for name, value in view.row.model_dump(mode="json").items()}
    for name in run.config.evaluators:
        score = view.scores.get(name)
        flat[f"score.{name}"] = score.value if score else None
        flat[f"status.{name}"] = score.status if score else None
    flat["truth.value"] = view.truth.value if view.truth else None
    flat["truth.damaged"] = view.truth.damaged if view.truth else None
    for name in run.truths[1:]:
        truth = view.more_truths.get(name)
        flat[f"truth.{name}.value"] = truth.value if truth else None
        flat[f"truth.{name}.damaged"] = truth.damaged if truth else None
    decision = view.decision.model_dump(mode="json", exclude={"turn", "attempt"})
    flat |= {f"decision.{name}": _cell(value) for name, value in decision.items()}
    made = view.made
    flat |= {f"composite.{name}": getattr(made, name, None) for name in ("image", "changed", "why")}
    flat["composite.truth"] = made.truth.value if made and made.truth else None
    flat["composite.damaged"] = made.truth.damaged if made and made.truth else None
    for name in run.truths[1:]:
        truth = made.more_truths.get(name) if made else None
        flat[f"composite.truth.{name}.value"] = truth.value if truth else None
        flat[f"composite.truth.{name}.damaged"] = truth.damaged if truth else None
    return {**flat, "taken": view.taken, "result": view.outcome}


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def turn_rows(run: RunView) -> list[dict[str, Any]]:
    """What each planned turn came to (`TurnResult`), with the run's id before it."""
    return [{"run": run.info.run, **row.model_dump(mode="json")} for row in turn_results(stretch_of(run))]


def episode_rows(run: RunView) -> list[dict[str, Any]]:
    """Damage episodes (`DamageEpisode`, with its delay), with the run's id before them."""
    stretch = stretch_of(run)
    found = damage_episodes(stretch, turn_results(stretch))
    return [{"run": run.info.run, **row.model_dump(mode="json"), "delay": row.delay} for row in found]


# One JSON line per attempt, and a reader that survives a torn last line.


def attempt_objects(run: RunView) -> Iterator[dict[str, Any]]:
    """The run's attempts as plain JSON objects, each whole in itself."""
    for view in run.attempts:
        yield {
            "schema_version": run.info.schema_version,
            "run": run.info.run,
            **view.row.model_dump(mode="json"),
            "scores": {name: _bare(score.model_dump(mode="json")) for name, score in view.scores.items()},
            "truth": _bare(view.truth.model_dump(mode="json")) if view.truth else None,
            "more_truths": {name: _bare(row.model_dump(mode="json")) for name, row in view.more_truths.items()},
            "decision": _bare(view.decision.model_dump(mode="json")),
            "composite": _bare(view.made.model_dump(mode="json")) if view.made else None,
            "taken": view.taken,
            "result": view.outcome,
        }


def write_jsonl(run: RunView, file: Writable, table: TableName = "attempts") -> int:
    """Write one line per row of the table; returns how many."""
    count = 0
    for item in row_objects(run, table):
        file.write(json.dumps(item, ensure_ascii=False, allow_nan=False) + "\n")
        count += 1
    return count


def row_objects(run: RunView, table: TableName = "attempts") -> Iterator[dict[str, Any]]:
    """The rows of a table as JSONL has them."""
    yield from attempt_objects(run) if table == "attempts" else table_rows(run, table)


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Read an export, dropping a torn last line with a warning and repeated (turn, attempt) rows after the first.

    Raises `ValueError` for a damaged line in the middle: that is not a crash's trace.
    """
    lines = path.read_bytes().split(b"\n")
    while lines and not lines[-1].strip(b"\0 \r\t"):
        lines.pop()
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line.rstrip(b"\0"))
            key = (row["turn"], row["attempt"])
        except (ValueError, KeyError, TypeError) as error:
            if number < len(lines):
                raise ValueError(f"{path}, line {number} is not a whole row: export the run again") from error
            warnings.warn(f"{path}: dropped the torn last line {number}; its attempt is left out", stacklevel=2)
            break
        rows.setdefault(key, row)
    return list(rows.values())


def _bare(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("turn", "attempt", "evaluator")}
