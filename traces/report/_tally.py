"""An evaluator's results on the candidates of a run, in words."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

from turngate.traces.analysis.counted import counted
from turngate.traces.analysis.run.run_view import RunView

__all__ = ["mean_score", "without_score"]


def mean_score(run: RunView, evaluator: str) -> float | None:
    """Mean over the candidates that have a score; None where none has."""
    rows = (attempt.scores.get(evaluator) for attempt in run.attempts)
    values = [row.value for row in rows if row is not None and row.status == "scored" and row.value is not None]
    return fmean(values) if values else None


def without_score(run: RunView, evaluator: str) -> str | None:
    """How many candidates have no score, and why; None where all have one or were not shown to it."""
    reasons: dict[str, Counter[str]] = {"unscored": Counter(), "failed": Counter()}
    for attempt in run.attempts:
        row = attempt.scores.get(evaluator)
        if row is not None and row.status in reasons:
            reasons[row.status][row.why or "unknown"] += 1
    number = sum(counter.total() for counter in reasons.values())
    if not number:
        return None
    told = ", ".join(
        f"{counter.total()} {status}" + (f" ({_listed(counter)})" if counter else "")
        for status, counter in reasons.items()
    )
    return f"{evaluator} gave no score for {counted(number, 'candidate')}: {told}."


def _listed(counter: Counter[str]) -> str:
    return ", ".join(f"{why} {count}" for why, count in counter.most_common())
