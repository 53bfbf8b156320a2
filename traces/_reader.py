"""Reads the rows of a ledger, whichever version of turngate wrote them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from turngate.traces._older import answer_now, composite_now, evaluator_of, thresholds_now, truth_now
from turngate.traces._sqlite import columns, decode, encode
from turngate.traces.records import TABLES, CompositeRow, Row

__all__ = ["LedgerReader"]

R = TypeVar("R", bound=Row)


class LedgerReader:
    """Rows of the ledger behind an open connection, and what only run.json in `folder` says about older ones."""

    def __init__(self, link: sqlite3.Connection, folder: Path) -> None:
        self._link = link
        self._folder = folder
        self._now: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "attempts": self._attempt_now,
            "truth": self._truth_now,
            "decisions": self._decision_now,
        }

    def rows(self, table: str, model: type[R], clause: str = "", parameters: Sequence[Any] = ()) -> list[R]:
        """Rows of `table`; `clause` is what follows its name in a SELECT."""
        return [cast(R, decode(model, values)) for values in self.values(table, clause, parameters)]

    def composites(self) -> list[CompositeRow]:
        """All composites in order, those that turngate 0.1.0 kept in its decisions included."""
        own = self.rows("composites", CompositeRow) if columns(self._link, "composites") else []
        return sorted([*self._kept_composites(), *own], key=lambda row: (row.turn, row.attempt))

    def values(self, table: str, clause: str = "", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Column values of the rows of `table`, lists and mappings as JSON text."""
        found = self._link.execute(f"SELECT * FROM {table} {clause}", parameters)  # noqa: S608 - our own constants
        now = self._now.get(table)
        return [now(dict(row)) if now else dict(row) for row in found]

    def all_values(self, table: str) -> list[dict[str, Any]]:
        """Column values of all rows of `table`, composites of older ledgers included."""
        if table != "composites":
            return self.values(table)
        names = TABLES[table][0].model_fields
        return [dict(zip(names, encode(row), strict=True)) for row in self.composites()]

    def _attempt_now(self, row: dict[str, Any]) -> dict[str, Any]:
        if row.get("metadata") is not None:
            return row
        answer = answer_now({**row, "told": json.loads(row.get("told") or "{}")})
        return {**answer, "metadata": json.dumps(answer["metadata"])}

    def _truth_now(self, row: dict[str, Any]) -> dict[str, Any]:
        if row.get("flags") is not None:
            return row
        truth = truth_now(row)
        return {**truth, "flags": json.dumps(truth["flags"]), "components": json.dumps(truth["components"])}

    def _decision_now(self, row: dict[str, Any]) -> dict[str, Any]:
        if row.get("thresholds") is not None:
            return row
        evidence = json.loads(row["evidence"])
        found = thresholds_now(evidence, self._gate_evaluator, self._directions) if evidence else {}
        return {**row, "thresholds": json.dumps(found)}

    def _kept_composites(self) -> list[CompositeRow]:
        if "composite" not in columns(self._link, "decisions"):
            return []
        kept = self._link.execute(
            "SELECT turn, attempt, at_ns, composite FROM decisions WHERE composite IS NOT NULL ORDER BY turn, attempt"
        )
        return [
            CompositeRow.model_validate(composite_now(turn, attempt, at_ns, json.loads(text)))
            for turn, attempt, at_ns, text in kept
        ]

    @cached_property
    def _gate_evaluator(self) -> str | None:
        try:
            return evaluator_of(json.loads((self._folder / "run.json").read_text(encoding="utf-8"))["config"]["gate"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # whoever needs run.json says what is wrong
            return None

    @cached_property
    def _directions(self) -> dict[str, str]:
        return dict(self._link.execute("SELECT evaluator, direction FROM scores GROUP BY evaluator").fetchall())
