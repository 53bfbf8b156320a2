"""Where the gate's threshold stood at each decision, as far as its evidence says."""

from __future__ import annotations

from turngate.traces.analysis.run.run_view import AttemptView, RunView

__all__ = ["thresholds"]


def thresholds(run: RunView) -> dict[str, list[tuple[int, float]]]:
    """Evaluator -> (turn, worst value that was still accepted) of every turn whose evidence has one.

    Read from `threshold`, or from `reference` and `margin`; the last attempt of a turn stands for it.
    """
    gate = run.info.config.get("gate", {})
    found: dict[str, dict[int, float]] = {}
    for attempt in run.attempts:
        evidence = attempt.decision.evidence
        evaluator = str(evidence.get("evaluator") or gate.get("evaluator") or "")
        limit = _limit(attempt, evaluator)
        if limit is not None:
            found.setdefault(evaluator, {})[attempt.row.turn] = limit
    return {evaluator: sorted(turns.items()) for evaluator, turns in found.items()}


def _limit(attempt: AttemptView, evaluator: str) -> float | None:
    evidence = attempt.decision.evidence
    threshold = evidence.get("threshold")
    if isinstance(threshold, int | float):
        return float(threshold)
    reference, margin = evidence.get("reference"), evidence.get("margin")
    score = attempt.scores.get(evaluator)
    if score is None or not isinstance(reference, int | float) or not isinstance(margin, int | float):
        return None
    return reference - margin if score.direction == "higher" else reference + margin
