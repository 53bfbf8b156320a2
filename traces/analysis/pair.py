"""Arms held against no gate, cell by cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.measured import Measured
from turngate.traces.analysis.run.recast import higher_is_better
from turngate.traces.analysis.study.statistics import Estimate, adjusted, bootstrap_ratio, sign_flip_p

__all__ = ["Pair", "pair_arms"]


class Pair(BaseModel):
    """An arm against the no-gate arm on the same cells: difference of the truth at the end."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    arm: str
    cells: int
    """Cells that both arms ran."""
    difference: Estimate
    """Mean of arm minus no-gate, in the measure's unit and its own direction."""
    better: bool | None
    """The difference is for the better."""
    p: float | None
    """Two-sided, sign flips of the origins' means; None with one origin."""
    p_adjusted: float | None
    """Corrected for the number of arms (Benjamini and Hochberg)."""


def pair_arms(
    by_arm: Mapping[str, Sequence[Measured]],
    base: Sequence[Measured],
) -> list[Pair]:
    """Every arm against `base`, the runs of the no-gate arm; empty without one or without a truth."""
    ends = {one.run.cell: end for one in base if (end := one.numbers.summary.final_truth) is not None}
    higher = {higher_is_better(one.view) for one in base}
    pairs = []
    for arm, runs in by_arm.items():
        if runs is base or not ends:
            continue
        differences: dict[str, list[float]] = defaultdict(list)
        for one in runs:
            end = one.numbers.summary.final_truth
            if one.run.cell in ends and end is not None:
                differences[one.run.origin].append(end - ends[one.run.cell])
        means = [sum(values) / len(values) for values in differences.values()]
        estimate = bootstrap_ratio(differences, lambda value: value)
        better = None if not estimate.value or len(higher) != 1 else (estimate.value > 0) == (True in higher)
        number = sum(len(values) for values in differences.values())
        pairs.append(
            Pair(arm=arm, cells=number, difference=estimate, better=better, p=sign_flip_p(means), p_adjusted=None)
        )
    corrected = adjusted([pair.p for pair in pairs])
    return [pair.model_copy(update={"p_adjusted": p}) for pair, p in zip(pairs, corrected, strict=True)]
