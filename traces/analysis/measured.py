"""A run of a study with what was counted in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.analysis.run_measures import RunMeasures
from turngate.traces.analysis.study.study_view import StudyRun

__all__ = ["Measured", "by_origin"]


@dataclass(frozen=True)
class Measured:
    """Which run, everything recorded about it, and its numbers."""

    run: StudyRun
    view: RunView
    numbers: RunMeasures


def by_origin(runs: Iterable[Measured]) -> dict[str, list[RunMeasures]]:
    """Origin -> numbers of its runs: the groups of every bootstrap."""
    groups: dict[str, list[RunMeasures]] = defaultdict(list)
    for one in runs:
        groups[one.run.origin].append(one.numbers)
    return groups
