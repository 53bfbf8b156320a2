"""The record of one pass over one target: what was asked for, and how it ended."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from turngate.evaluators.item import Named
from turngate.rescoring.target import Target
from turngate.traces.provenance import provenance
from turngate.traces.records import Row
from turngate.traces.scoring.records import PassEndRow, PassRow, ScoredRow
from turngate.traces.scoring.table import ScoreTable

__all__ = ["PassLog"]


class PassLog:
    """Writes the pass with its first rows: a pass that finds nothing to do leaves no trace."""

    def __init__(self, target: Target, evaluators: Sequence[Named], table: ScoreTable) -> None:
        self.id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        self.added = 0
        self._target, self._evaluators, self._table = target, evaluators, table
        self._started_ns = time.time_ns()
        self._begun = False

    def add(self, rows: Sequence[ScoredRow]) -> int:
        """Write rows; returns how many of them are new."""
        if not rows:
            return 0
        first: list[Row] = [] if self._begun else [self._row()]
        new = self._table.add([*first, *rows]) - len(first)
        self._begun = True
        self.added += new
        return new

    def end(self, status: Literal["complete", "interrupted", "failed"], reason: str | None) -> None:
        """Write how the pass ended."""
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
