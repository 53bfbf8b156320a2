"""The failures of one arm of a study."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from turngate.traces.analysis.failures.judge import LABEL_FILE, RunFailures, find_failures
from turngate.traces.analysis.labels.labels import Labels
from turngate.traces.analysis.measured import Measured
from turngate.traces.analysis.study.statistics import Estimate, bootstrap_ratio
from turngate.traces.analysis.taxonomy import FAILURES, FailureName, Level

__all__ = ["FailureAnswer", "TaxonomyAnswer", "answer_failures"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class FailureAnswer(_Model):
    """One failure over the candidates of an arm."""

    name: FailureName
    level: Level
    measured: int
    """Candidates that a measuring source could judge; 0 means not measured, not absent."""
    found: int
    """Those among them that show it."""
    share: Estimate
    """`found` of `measured`; the interval is 95 %, by bootstrap over origins."""
    runs: int
    """Runs in which it was found, by any source."""
    first_turns: list[int]
    """First turn of each of these, sorted."""
    labelled: int
    """Candidates that a label file gives it; they are in none of the counts of what was measured."""
    sources: list[str]
    """What the judgements were read from."""


class TaxonomyAnswer(_Model):
    """All failures of an arm."""

    arm: str
    simulated_runs: int
    """Runs of a simulator: its failures were written by hand."""
    runs: int
    failures: list[FailureAnswer]
    """In the order of the taxonomy."""
    remarks: list[str]
    """Rows of the label file that have no image in their run, and verdicts that another person's row replaced."""


def answer_failures(arm: str, runs: Sequence[Measured], labels: Labels | None = None) -> TaxonomyAnswer:
    """Add up the runs of one arm."""
    found = [(one, find_failures(one.view, labels)) for one in runs]
    remarks = [remark for one in runs for remark in labels.of(one.view).remarks] if labels is not None else []
    return TaxonomyAnswer(
        arm=arm,
        simulated_runs=sum(one.numbers.summary.simulated for one in runs),
        runs=len(runs),
        failures=[_answer(name, found) for name in FAILURES],
        remarks=remarks,
    )


def _answer(name: FailureName, runs: Sequence[tuple[Measured, RunFailures]]) -> FailureAnswer:
    groups: dict[str, list[dict[tuple[int, int], bool]]] = {}
    for one, failures in runs:
        if places := failures.measured(name):
            groups.setdefault(one.run.origin, []).append(places)
    everything = [judgement for _, failures in runs for judgement in failures.judgements if judgement.name == name]
    turns = [[judgement.turn for judgement in failures.found(name)] for _, failures in runs]
    measured = [places for group in groups.values() for places in group]
    return FailureAnswer(
        name=name,
        level=FAILURES[name].level,
        measured=sum(map(len, measured)),
        found=sum(sum(places.values()) for places in measured),
        share=bootstrap_ratio(groups, lambda places: sum(places.values()), len),
        runs=sum(map(bool, turns)),
        first_turns=sorted(min(found) for found in turns if found),
        labelled=sum(judgement.source == LABEL_FILE for judgement in everything),
        sources=sorted({judgement.source for judgement in everything}),
    )
