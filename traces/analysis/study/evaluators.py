"""One evaluator against the truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.discrimination import Judged, auc, judged, roc
from turngate.traces.analysis.measured import Measured
from turngate.traces.analysis.run.summary import Counts
from turngate.traces.analysis.study.gap import Gap, gaps
from turngate.traces.analysis.study.statistics import Estimate, bootstrap

__all__ = ["Afterwards", "EvaluatorAnswer", "answer_evaluators"]


class Afterwards(BaseModel):
    """How an evaluator scored runs that were there already: no gate saw any of it."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    type: str
    version: str
    parameters: str
    """SHA-256 of the settings."""
    settings: dict[str, Any]
    images: int
    """Images of all runs: origins, candidates and composites."""
    looked_at: int
    """Of those: with a row, whatever is in it."""
    partial: bool
    """Only some were looked at: the numbers rest on a choice of images."""
    extent: str
    """The same in words."""


class EvaluatorAnswer(BaseModel):
    """One evaluator against truth, on the runs without a gate if there are any."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    evaluator: str
    """Its name; one that scored afterwards says so in it."""
    arm: str
    """Arm whose candidates were looked at, or `all`."""
    auc: Estimate
    """How often a sound candidate scores better than a damaged one; 0.5 is a coin, below it is misled."""
    roc: list[tuple[float, float]]
    """(false-alarm rate, catch rate) over all thresholds."""
    candidates: int
    """With a score and a known truth."""
    of_candidates: int
    """With a known truth: where `candidates` is smaller, the AUC says nothing about the rest."""
    counts: Counts
    """Over all attempts of all arms."""
    gap: Gap
    """The paper's gap over these runs."""
    afterwards: Afterwards | None = None
    """Set when the scores were made after the runs."""


def answer_evaluators(
    by_arm: Mapping[str, Sequence[Measured]],
    base: Sequence[Measured],
) -> list[EvaluatorAnswer]:
    """Every evaluator on the candidates of `base`, the runs of the no-gate arm, or on all when there are none."""
    everything = [one for runs in by_arm.values() for one in runs]
    looked_at = base or everything
    names = list(dict.fromkeys(name for one in everything for name in one.view.info.config["evaluators"]))
    views = {f"{one.run.arm} {one.run.label}": one.view for one in looked_at}
    found = gaps(views, names)
    known = sum(a.truth is not None and a.truth.damaged is not None for one in looked_at for a in one.view.attempts)
    answers = []
    for name in names:
        groups: dict[str, list[Judged]] = defaultdict(list)
        for one in looked_at:
            groups[one.run.origin].extend(judged(one.view, name))
        candidates = [each for group in groups.values() for each in group]
        counts: dict[str, int] = defaultdict(int)
        for one in everything:
            for field, number in one.numbers.summary.counts.get(name, Counts()).model_dump().items():
                counts[field] += number
        answers.append(
            EvaluatorAnswer(
                evaluator=name,
                arm=base[0].run.arm if base else "all",
                auc=bootstrap(groups, auc),
                roc=roc(candidates),
                candidates=len(candidates),
                of_candidates=known,
                counts=Counts(**counts),
                gap=found[name],
            )
        )
    return answers
