"""What an arm's image was like after each turn, over all its runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from turngate.traces.analysis.study.loaded import LoadedRun
from turngate.traces.analysis.study.statistics import bootstrap_ratio
from turngate.traces.report._lineage import Standing

__all__ = ["Curve", "score_curve", "truth_curve"]

_DRAWS = 500


@dataclass(frozen=True)
class Curve:
    """Mean over the runs of an arm, with its interval over origins."""

    turns: list[int]
    """From 0, the origin."""
    values: list[float | None]
    """None where no run has a value."""
    low: list[float | None]
    """Lower end of the 95 % interval (bootstrap over origins); None with a single origin."""
    high: list[float | None]
    missing: list[int]
    """Turns at which a run has no value; the mean is then that of the others."""


def truth_curve(runs: Sequence[LoadedRun]) -> Curve:
    """Truth of the current image after each turn, in the measure's unit."""
    return _curve(runs, lambda stand: stand.truth.value if stand.truth is not None else None)


def score_curve(runs: Sequence[LoadedRun], evaluator: str) -> Curve:
    """Score of the current image after each turn, over the runs that have the evaluator."""

    def value(stand: Standing) -> float | None:
        score = stand.scores.get(evaluator)
        return score.value if score is not None and score.status == "scored" else None

    return _curve([run for run in runs if evaluator in run.evaluators], value)


def _curve(runs: Sequence[LoadedRun], value: Callable[[Standing], float | None]) -> Curve:
    last = max(run.stands[-1].turn for run in runs)
    groups: list[dict[str, list[float]]] = [defaultdict(list) for _ in range(last + 1)]
    missing = set()
    for run in runs:
        known = [(stand.turn, value(stand)) for stand in run.stands]
        if run.ended:  # its image stays what it is; leaving it out would change who is averaged
            known += [(turn, known[-1][1]) for turn in range(known[-1][0] + 1, last + 1)]
        for turn, number in known:
            if number is None:
                missing.add(turn)
            else:
                groups[turn][run.run.origin].append(number)
    found = [bootstrap_ratio(group, lambda number: number, draws=_DRAWS) for group in groups]
    return Curve(
        turns=list(range(last + 1)),
        values=[one.value for one in found],
        low=[one.low for one in found],
        high=[one.high for one in found],
        missing=sorted(missing),
    )
