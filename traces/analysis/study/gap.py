"""The score gap of Banana100 (arXiv 2604.03400): does a metric notice the decay between step 1 and a later one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import RunView, truth_direction
from turngate.traces.recorded import RecordedFacts

__all__ = ["STEPS", "Denominator", "Gap", "gaps", "gaps_of"]

STEPS = (5, 10, 20)
"""Steps that are held against step 1."""

Denominator = Literal["none", "range", "ref_abs", "pooled_std", "max_abs"]
"""What a gap is divided by. The paper's normalisation is not known to us; verdicts do not depend on it.

`none`: raw score; `range`: width of the metric's stated range; `ref_abs`: the score at step 1 (unstable near 0);
`pooled_std`: SD of the metric over all steps that are looked at; `max_abs`: the largest gap.
"""


class Gap(FrozenModel):
    """One metric over a set of runs."""

    evaluator: str
    deltas: dict[int, list[float]]
    """Step -> gap of each run, sign-corrected: negative when the metric says that quality fell. Not normalised."""
    normalised: dict[int, list[float] | None]
    """Step -> the same by the denominator; None where it cannot be formed."""
    runs: int
    """Runs with a score at step 1 and at all later steps."""
    left_out: int
    """Runs that did not take an image with a score at each of turns 1, 5, 10 and 20: neither passed nor failed."""
    not_fallen: int
    """Runs in which truth did not fall from turn 1 to each of 5, 10 and 20, or is not known there: there was no decay
    to notice, so they neither pass nor fail."""
    failures: int
    """Runs in which at least one gap is not negative."""
    failed: list[str]
    """Their names."""

    @property
    def passes(self) -> bool | None:
        """All gaps negative in all runs; None when there was nothing to look at."""
        return None if self.runs == 0 else self.failures == 0


def gaps(runs: Mapping[str, RunView], evaluators: Sequence[str], denominator: Denominator = "none") -> dict[str, Gap]:
    """Gaps of accepted candidates: the score of the image that step n made, in runs that accept everything.

    Only runs in which truth fell count: where nothing decayed a metric has nothing to notice.
    """
    scores: dict[str, dict[str, dict[int, float]]] = {name: {} for name in evaluators}
    directions: dict[str, str] = {}
    facts: dict[str, RecordedFacts] = {}
    fallen = {label for label, run in runs.items() if _truth_fell(run)}
    for label, run in runs.items():
        facts |= run.info.resolved.evaluators
        for name in evaluators:
            by_turn: dict[int, float] = {}
            for attempt in run.attempts:
                score = attempt.scores.get(name)
                if attempt.taken and score is not None and score.value is not None:
                    by_turn[attempt.row.turn] = score.value
                    directions[name] = score.direction
            scores[name][label] = by_turn
    return {
        name: gaps_of(
            name,
            {label: steps for label, steps in scores[name].items() if label in fallen},
            directions.get(name, "higher"),
            denominator,
            _width(facts.get(name)),
            not_fallen=len(runs) - len(fallen),
        )
        for name in evaluators
    }


def _truth_fell(run: RunView) -> bool:
    sign = 1.0 if truth_direction(run) == "higher" else -1.0
    found = {}
    for turn in (1, *STEPS):
        taken = run.taken.get(turn)
        standing = taken.standing if taken is not None else None
        if standing is None or standing.value is None:
            return False
        found[turn] = sign * standing.value
    return all(found[step] < found[1] for step in STEPS)


def gaps_of(
    evaluator: str,
    scores: Mapping[str, Mapping[int, float]],
    direction: str,
    denominator: Denominator = "none",
    width: float | None = None,
    not_fallen: int = 0,
) -> Gap:
    """Gap of one metric from its scores by run and step. `width` is that of its range, for the denominator `range`.

    `not_fallen` counts runs that the caller left out because their truth did not fall.
    """
    sign = 1.0 if direction == "higher" else -1.0
    whole = {name: steps for name, steps in scores.items() if all(step in steps for step in (1, *STEPS))}
    deltas = {step: [sign * (steps[step] - steps[1]) for steps in whole.values()] for step in STEPS}
    failed = [name for name, *gap in zip(whole, *deltas.values(), strict=True) if not all(delta < 0 for delta in gap)]
    return Gap(
        evaluator=evaluator,
        deltas=deltas,
        normalised={step: _divided(deltas, step, list(whole.values()), denominator, width) for step in STEPS},
        runs=len(whole),
        left_out=len(scores) - len(whole),
        not_fallen=not_fallen,
        failures=len(failed),
        failed=failed,
    )


def _divided(
    deltas: Mapping[int, list[float]],
    step: int,
    runs: Sequence[Mapping[int, float]],
    denominator: Denominator,
    width: float | None,
) -> list[float] | None:
    below: list[float]
    match denominator:
        case "none":
            below = [1.0] * len(runs)
        case "range":
            if width is None:
                return None
            below = [width] * len(runs)
        case "ref_abs":
            below = [abs(steps[1]) for steps in runs]
        case "pooled_std":
            pooled = [steps[one] for steps in runs for one in (1, *STEPS)]
            below = [float(np.std(pooled)) if pooled else 0.0] * len(runs)
        case "max_abs":
            below = [max((abs(delta) for gap in deltas.values() for delta in gap), default=0.0)] * len(runs)
    if any(value == 0 for value in below):
        return None
    return [delta / value for delta, value in zip(deltas[step], below, strict=True)]


def _width(facts: RecordedFacts | None) -> float | None:
    lowest, highest = facts.bounds if facts is not None else (None, None)
    return None if lowest is None or highest is None else highest - lowest
