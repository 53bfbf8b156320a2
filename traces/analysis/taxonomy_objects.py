"""Failures of adding an object, from what a simulator tells about its own work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.analysis.taxonomy import FailureName, Judgement
from turngate.traces.analysis.taxonomy_rules import candidates, judged

__all__ = ["object_failures"]

_FAILURES: Mapping[str, FailureName] = {
    "nothing_added": "counting",
    "row_too_many": "counting",
    "replaced": "replacement",
}
"""Simulator's word -> failure."""


def object_failures(run: RunView) -> Iterator[Judgement]:
    """Judge every candidate of a simulator that told what became of its request to add an object."""
    for attempt in candidates(run):
        told = attempt.row.told
        failure = told.get("object_failure")
        if not attempt.row.simulated or "object_failure" not in told or failure not in (None, *_FAILURES):
            continue
        for name in dict.fromkeys(_FAILURES.values()):
            found = failure is not None and _FAILURES[failure] == name
            evidence = "added as asked" if failure is None else str(failure).replace("_", " ")
            yield judged(attempt, name, found, "simulator", evidence)
