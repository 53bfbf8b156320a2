"""One evaluator against the truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.clusters import Estimate, bootstrap
from turngate.traces.analysis.discrimination import Judged, auc, judged, roc
from turngate.traces.analysis.gap import Gap, gaps
from turngate.traces.analysis.measured import Measured
from turngate.traces.analysis.summary import Counts

__all__ = ["EvaluatorAnswer", "answer_evaluators"]


class EvaluatorAnswer(BaseModel):
    """One evaluator against truth, on the runs without a gate if there are any."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    evaluator: str
    arm: str
    """Arm whose candidates were looked at, or `all`."""
    auc: Estimate
    """How often a sound candidate scores better than a damaged one; 0.5 is a coin, below it is misled."""
    roc: list[tuple[float, float]]
    """(false-alarm rate, catch rate) over all thresholds."""
    candidates: int
    """With a score and a known truth."""
    counts: Counts
    """Over all attempts of all arms."""
    gap: Gap
    """The paper's gap over these runs."""


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
                counts=Counts(**counts),
                gap=found[name],
            )
        )
    return answers
