"""What a run has used up, against its budgets."""

from __future__ import annotations

import time
from collections.abc import Iterable

from turngate.graphs.config import Budgets
from turngate.traces.records import AttemptRow, DecisionRow, EventRow, ScoreRow

__all__ = ["BudgetUse", "past_seconds"]


class BudgetUse:
    """Counts what the ledger says was used, over all processes that worked on the run."""

    def __init__(self, past_seconds: float = 0.0) -> None:
        self.attempts = 0
        self.usd = 0.0
        self.tokens = 0
        self.waited = 0.0
        self.failures_in_a_row = 0
        self._past_seconds = past_seconds
        self._started = time.monotonic()

    def add_scores(self, rows: Iterable[ScoreRow]) -> None:
        """Count what judges used up."""
        for usage in (row.usage for row in rows if row.usage):
            self.usd += usage.get("cost_usd") or 0.0
            self.tokens += (usage.get("input_tokens") or 0) + (usage.get("output_tokens") or 0)
            self.waited += usage.get("waited_seconds") or 0.0

    def add(self, row: AttemptRow) -> None:
        """Count one attempt."""
        self.attempts += 1
        self.usd += row.cost_usd or 0.0
        self.tokens += (row.input_tokens or 0) + (row.output_tokens or 0)
        self.waited += row.waited_seconds
        self.failures_in_a_row = self.failures_in_a_row + 1 if row.outcome == "no_image" else 0

    @property
    def wall_seconds(self) -> float:
        """Wall time of all processes so far."""
        return self._past_seconds + time.monotonic() - self._started

    def exhausted(self, budgets: Budgets) -> str | None:
        """Which budget is used up, in one line, or None."""
        used = {
            "attempts": self.attempts,
            "usd": self.usd,
            "tokens": self.tokens,
            "wall_seconds": self.wall_seconds,
            "working_seconds": self.wall_seconds - self.waited,
            "failures_in_a_row": self.failures_in_a_row,
        }
        for name, amount in used.items():
            limit = getattr(budgets, name)
            if limit is not None and amount >= limit:
                return f"budgets.{name} is used up: {amount:g} of {limit:g}"
        return None


def past_seconds(events: Iterable[EventRow], decisions: Iterable[DecisionRow]) -> float:
    """Wall time that earlier processes spent; a killed one counts up to its last decision."""
    total, started, last = 0.0, None, 0
    moments = [(event.at_ns, event.kind) for event in events if event.kind in ("started", "ended")]
    moments += [(row.at_ns, "decision") for row in decisions]
    for at, kind in sorted(moments):
        if kind == "started":
            total += (last - started) / 1e9 if started is not None else 0.0
            started = at
        elif kind == "ended" and started is not None:
            total += (at - started) / 1e9
            started = None
        last = at
    return total + ((last - started) / 1e9 if started is not None else 0.0)
