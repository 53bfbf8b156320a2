"""One JSON line per attempt, and a reader that survives a torn last line."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from turngate.traces.analysis.run import RunView

__all__ = ["attempt_objects", "read_jsonl", "write_jsonl"]


def attempt_objects(run: RunView) -> Iterator[dict[str, Any]]:
    """The run's attempts as plain JSON objects, each whole in itself."""
    for view in run.attempts:
        yield {
            "schema_version": run.info.schema_version,
            "run": run.info.run,
            **view.row.model_dump(mode="json"),
            "scores": {name: _bare(score.model_dump(mode="json")) for name, score in view.scores.items()},
            "truth": _bare(view.truth.model_dump(mode="json")) if view.truth else None,
            "decision": _bare(view.decision.model_dump(mode="json")),
            "composite": _bare(view.made.model_dump(mode="json")) if view.made else None,
            "taken": view.taken,
            "result": view.outcome,
        }


def write_jsonl(run: RunView, file: TextIO) -> int:
    """Write one line per attempt; returns how many."""
    for item in attempt_objects(run):
        file.write(json.dumps(item, ensure_ascii=False, allow_nan=False) + "\n")
    return len(run.attempts)


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
            warnings.warn(f"{path}: dropped the torn last line {number}; its attempt is owed", stacklevel=2)
            break
        rows.setdefault(key, row)
    return list(rows.values())


def _bare(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("turn", "attempt", "evaluator")}
