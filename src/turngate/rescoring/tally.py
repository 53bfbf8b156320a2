"""What came out, counted per evaluator: no mean without how many had no score."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Tally"]


@dataclass
class Tally:
    """Results of one evaluator."""

    counts: Counter[str] = field(default_factory=Counter)
    """Images by status."""
    values: list[float] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    """Failures by who is at fault."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Images without a score by reason."""

    def add(self, status: str, value: float | None, why: str | None, fault: str | None) -> None:
        """Count one result."""
        self.counts[status] += 1
        if status == "scored" and value is not None:
            self.values.append(value)
        elif why:
            self.reasons[why] += 1
        if fault:
            self.faults[fault] += 1

    @property
    def mean(self) -> float | None:
        """Of the scored, within their smallest and largest; None without any."""
        if not self.values:
            return None
        return min(max(math.fsum(self.values) / len(self.values), min(self.values)), max(self.values))

    @property
    def only_failed(self) -> str | None:
        """Who is at fault when nothing but failures came out."""
        failed = self.counts["failed"]
        return self.faults.most_common(1)[0][0] if failed and failed == self.counts.total() else None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            **{status: self.counts[status] for status in ("scored", "unscored", "failed", "skipped")},
            "reasons": dict(self.reasons),
            "mean": self.mean,
            "min": min(self.values, default=None),
            "max": max(self.values, default=None),
        }
