"""How far two yes-or-no statements about the same candidates agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.study.statistics import Estimate, bootstrap, bootstrap_ratio

__all__ = ["Agreement", "Table", "agreement", "kappa"]


@dataclass(frozen=True)
class Table:
    """Candidates by what the summary and the other say: whether there is damage."""

    both: int = 0
    summary: int = 0
    """The summary alone."""
    other: int = 0
    """The other alone."""
    neither: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Table:
        """Count (summary, other)."""
        found = list(pairs)
        counts = [found.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))]
        return cls(*counts)

    def __add__(self, more: Table) -> Table:
        return Table(
            self.both + more.both, self.summary + more.summary, self.other + more.other, self.neither + more.neither
        )

    @property
    def candidates(self) -> int:
        """All of them."""
        return self.both + self.summary + self.other + self.neither


class Agreement(BaseModel):
    """The summary's mention of damage, taken as a detector of what the other says."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    candidates: int
    """With a summary that was read and a statement of the other."""
    both: int
    summary_only: int
    other_only: int
    neither: int
    precision: Estimate
    """Mentions that the other confirms."""
    recall: Estimate
    """What the other says that is mentioned."""
    kappa: Estimate
    """Cohen's kappa: 1 is agreement, 0 what chance gives; without value where chance alone agrees wholly."""


def agreement(groups: Mapping[str, Sequence[Table]]) -> Agreement:
    """Add up tables by origin; intervals are 95 %, by bootstrap over origins."""
    total = _sum([table for tables in groups.values() for table in tables])
    return Agreement(
        candidates=total.candidates,
        both=total.both,
        summary_only=total.summary,
        other_only=total.other,
        neither=total.neither,
        precision=bootstrap_ratio(groups, lambda table: table.both, lambda table: table.both + table.summary),
        recall=bootstrap_ratio(groups, lambda table: table.both, lambda table: table.both + table.other),
        kappa=bootstrap(groups, lambda tables: kappa(_sum(tables))),
    )


def kappa(table: Table) -> float | None:
    """Cohen's kappa (1960) of a table of four, in whole numbers; None where chance alone would agree wholly."""
    a, b, c, d = table.both, table.summary, table.other, table.neither
    apart = (a + b) * (b + d) + (a + c) * (c + d)
    return 2 * (a * d - b * c) / apart if apart else None


def _sum(tables: Sequence[Table]) -> Table:
    return sum(tables, start=Table())
