"""How much of a run or folder each evaluator has scored: a choice of images must not pass for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from turngate.traces.rescored.records import ScoredRow
from turngate.traces.rescored.table import FILE_NAME, ScoreTable

__all__ = ["Coverage", "coverage"]


@dataclass(frozen=True)
class Coverage:
    """One evaluator in one version with one set of settings."""

    evaluator: str
    type: str
    version: str
    parameters: str
    """SHA-256 of its settings."""
    images: int
    """Images that there are, as its latest pass counted them."""
    looked_at: int
    """Images that have a row, whatever is in it."""
    retried: int
    """Images whose failure was asked for again."""

    @property
    def partial(self) -> bool:
        """Only some of the images were scored: numbers over them are a choice, and reports must say so."""
        return self.looked_at < self.images


def coverage(folder: Path) -> list[Coverage]:
    """Coverage of every evaluator that has scored what is in `folder`; raises `NoSuchRun` without scores."""
    table = ScoreTable(folder / FILE_NAME, read_only=True)
    try:
        rows, passes = table.scores(), table.passes()
    finally:
        table.close()
    images = {
        (one["type"], one["version"], one["parameters"]): asked.images
        for asked, _ in passes
        for one in asked.evaluators
    }
    return [_one(key, found, images.get(key[1:], 0)) for key, found in _by_evaluator(rows).items()]


def _by_evaluator(rows: Iterable[ScoredRow]) -> dict[tuple[str, str, str, str], list[ScoredRow]]:
    found: dict[tuple[str, str, str, str], list[ScoredRow]] = defaultdict(list)
    for row in rows:
        found[row.evaluator, row.type, row.version, row.parameters].append(row)
    return found


def _one(key: tuple[str, str, str, str], rows: list[ScoredRow], images: int) -> Coverage:
    again = {row.item for row in rows if row.tries > 1}
    return Coverage(*key, images, len({row.item for row in rows}), len(again))
