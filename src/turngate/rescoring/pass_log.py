"""The record of one pass over one target: what was asked for, and how it ended."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from turngate.evaluators.bulk.item import Named
from turngate.rescoring.targets import Target
from turngate.traces.provenance import provenance
from turngate.traces.records import Row
from turngate.traces.rescored.records import PassEndRow, PassRow, ScoredRow
from turngate.traces.rescored.table import ScoreTable

__all__ = ["HOLD_SECONDS", "PassLog"]

HOLD_SECONDS = 0.3
"""Longest that a free result waits to be written: what a kill may cost."""


class PassLog:
    """Writes the pass with its first rows: a pass that finds nothing to do leaves no trace."""

    def __init__(self, target: Target, evaluators: Sequence[Named], table: ScoreTable) -> None:
        self.id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        self.added = 0
        self._target, self._evaluators, self._table = target, evaluators, table
        self._started_ns = time.time_ns()
        self._begun = False
        self._held: list[ScoredRow] = []
        self._written = time.monotonic()

    def add(self, rows: Sequence[ScoredRow], at_once: bool) -> None:
        """Write rows: at once, or within a fraction of a second, for a commit costs as much as a small image."""
        self._held += rows
        if at_once or time.monotonic() - self._written > HOLD_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._held:
            first: list[Row] = [] if self._begun else [self._row()]
            self.added += self._table.add([*first, *self._held]) - len(first)
            self._begun = True
            self._held = []
        self._written = time.monotonic()

    def end(self, status: Literal["complete", "interrupted", "failed"], reason: str | None) -> None:
        """Write what is held, and how the pass ended."""
        self.flush()
        if self._begun:
            end = PassEndRow(id=self.id, status=status, reason=reason, added=self.added, ended_ns=time.time_ns())
            self._table.add([end])

    def _row(self) -> PassRow:
        return PassRow(
            id=self.id,
            evaluators=[_told(by) for by in self._evaluators],
            images=self._target.images,
            chosen=len(self._target.items),
            selection=dict(self._target.selection),
            made_with=provenance(Path.cwd()),
            started_ns=self._started_ns,
        )


def _told(by: Named) -> dict[str, Any]:
    facts = by.facts
    return {
        "name": by.name,
        "type": by.config.type,
        "version": facts.version,
        "parameters": by.parameters,
        "settings": by.config.model_dump(mode="json"),
        "direction": facts.direction,
        "range": [str(bound) for bound in facts.range],
        "weights": facts.weights,
        "source": facts.source,
    }
