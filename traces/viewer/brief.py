"""A run as far as its summary needs it, from a few columns of its ledger: many times faster than the whole of it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from turngate.traces._sqlite import connect
from turngate.traces.analysis.run.run_view import RunView, attempt_views
from turngate.traces.records import AttemptRecord, AttemptRow, DecisionRow, EventRow, ScoreRow, TruthRow
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.status import run_status

__all__ = ["brief_view"]

_ATTEMPTS = ("turn", "attempt", "outcome", "cost_usd")
_SCORES = ("turn", "attempt", "evaluator", "usage")
_TRUTHS = ("turn", "attempt", "measure", "value", "damaged_at", "damaged")
_DECISIONS = (
    "turn", "attempt", "verdict", "action", "taken_attempt", "closes_turn", "image_turn_after", "status_after",
    "composite",
)  # fmt: skip
_EVENTS = ("kind", "data")
_LATER = ("usage", "composite")

# Copies of a row without values: five times faster than filling in the defaults of every row.
_ATTEMPT, _SCORE, _TRUTH = AttemptRow.model_construct(), ScoreRow.model_construct(), TruthRow.model_construct()
_DECISION, _EVENT = DecisionRow.model_construct(), EventRow.model_construct()
_INFO = RunInfo(run="", created="", config={"turns": 0, "evaluators": {}}, origin={}, resolved={}, made_with={})

_Key = tuple[int, int]


def brief_view(folder: Path) -> RunView:
    """What `summarise` counts of the run in `folder`: no run.json, values of evaluators, texts or images.

    Raises `sqlite3.Error`, `DamagedRun`, `ValueError`, `KeyError` or `TypeError` when the ledger cannot be read.
    """
    link = connect(folder / "ledger.sqlite", read_only=True, durable=False)
    try:
        attempts = [_ATTEMPT.model_copy(update=row) for row in _rows(link, "attempts", _ATTEMPTS)]
        decisions = {_key(row): _decision(row) for row in _rows(link, "decisions", _DECISIONS)}
        truths = {_key(row): _truth(row) for row in _rows(link, "truth", _TRUTHS)}
        judged = _judged(link)
        events = [
            _EVENT.model_copy(update={**row, "data": json.loads(row["data"])})
            for row in _rows(link, "events", _EVENTS, "kind IN ('started', 'ended')", "seq")
        ]
    finally:
        link.close()
    records = [
        AttemptRecord(row, tuple(judged.get(key, ())), truths.get(key), decisions[key])
        for row in attempts
        if (key := (row.turn, row.attempt)) in decisions
    ]
    status = run_status(folder, list(decisions.values()), events)
    return RunView(RunFolder(folder), _INFO, status, {}, truths.get((0, 0)), attempt_views(records), events)


def _rows(
    link: sqlite3.Connection, table: str, wanted: tuple[str, ...], where: str = "1", order: str = "turn, attempt"
) -> list[dict[str, Any]]:
    """The wanted columns of a table; an older turngate wrote no `usage` and no `composite`."""
    present = {row["name"] for row in link.execute(f"PRAGMA table_info({table})")}
    columns = [name for name in wanted if name in present or name not in _LATER]
    if "usage" in wanted and "usage" not in present:
        return []
    found = link.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {where} ORDER BY {order}")  # noqa: S608 - our own constants
    return [dict(zip(columns, row, strict=True)) for row in found]


def _key(row: dict[str, Any]) -> _Key:
    return row["turn"], row["attempt"]


def _decision(row: dict[str, Any]) -> DecisionRow:
    composite = row.get("composite")
    return _DECISION.model_copy(update={**row, "composite": json.loads(composite) if composite else None})


def _truth(row: dict[str, Any]) -> TruthRow:
    damaged = row["damaged"]
    return _TRUTH.model_copy(update={**row, "damaged": None if damaged is None else bool(damaged)})


def _judged(link: sqlite3.Connection) -> dict[_Key, list[ScoreRow]]:
    """Scores that cost something, by attempt."""
    found: dict[_Key, list[ScoreRow]] = {}
    for row in _rows(link, "scores", _SCORES, "usage != '{}'"):
        score = _SCORE.model_copy(update={**row, "usage": json.loads(row["usage"])})
        found.setdefault(_key(row), []).append(score)
    return found
