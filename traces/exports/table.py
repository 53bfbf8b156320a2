"""One flat row per attempt, for CSV and Parquet."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, TextIO

from turngate.errors import MissingExtra
from turngate.traces.analysis.run import AttemptView, RunView

__all__ = ["flat_rows", "write_csv", "write_parquet"]


def flat_rows(run: RunView) -> list[dict[str, Any]]:
    """Attempts with `score.NAME`, `status.NAME`, `truth.*`, `decision.*` and `composite.*` columns.

    Lists and mappings are JSON text.
    """
    return [_flat(run, view) for view in run.attempts]


def write_csv(run: RunView, file: TextIO) -> int:
    """Write a header and one line per attempt; returns how many."""
    rows = flat_rows(run)
    writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["run", "turn", "attempt"])
    writer.writeheader()
    writer.writerows(rows)
    return len(rows)


def write_parquet(run: RunView, path: Path) -> int:
    """Write a Parquet file; raises `MissingExtra` without pyarrow. Returns the number of rows."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow: pip install 'turngate[parquet]'") from None
    rows = flat_rows(run)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return len(rows)


def _flat(run: RunView, view: AttemptView) -> dict[str, Any]:
    flat: dict[str, Any] = {"run": run.info.run}
    flat |= {name: _cell(value) for name, value in view.row.model_dump(mode="json").items()}
    for name in run.info.config["evaluators"]:
        score = view.scores.get(name)
        flat[f"score.{name}"] = score.value if score else None
        flat[f"status.{name}"] = score.status if score else None
    flat["truth.value"] = view.truth.value if view.truth else None
    flat["truth.damaged"] = view.truth.damaged if view.truth else None
    decision = view.decision.model_dump(mode="json", exclude={"turn", "attempt"})
    flat |= {f"decision.{name}": _cell(value) for name, value in decision.items()}
    made = view.made
    flat |= {f"composite.{name}": getattr(made, name, None) for name in ("image", "changed", "why")}
    flat["composite.truth"] = made.truth.value if made and made.truth else None
    flat["composite.damaged"] = made.truth.damaged if made and made.truth else None
    return {**flat, "taken": view.taken, "result": view.outcome}


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
