"""What the reasoning summaries of an arm are worth, and how far readers and evaluators agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import RunReasoning, Spoken, SummaryCounts, read_runs
from turngate.traces.analysis.statistics import Estimate, cluster_mean, cluster_share
from turngate.traces.analysis.study.evaluators import Judged, auc
from turngate.traces.analysis.study.loaded import LoadedRun

if TYPE_CHECKING:
    from turngate.agent.reasoning.reading import SummaryReader

__all__ = ["Agreement", "ReasoningAnswer", "Table", "agreement", "answer_reasoning", "kappa"]


@dataclass(frozen=True)
class Table:
    """Candidates by what the summary and the other say: whether there is damage."""

    both: int = 0
    summary: int = 0
    """The summary alone."""
    other: int = 0
    """The other alone."""
    neither: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Table:
        """Count (summary, other)."""
        found = list(pairs)
        counts = [found.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))]
        return cls(*counts)

    def __add__(self, more: Table) -> Table:
        return Table(
            self.both + more.both, self.summary + more.summary, self.other + more.other, self.neither + more.neither
        )

    @property
    def candidates(self) -> int:
        """All of them."""
        return self.both + self.summary + self.other + self.neither


class Agreement(FrozenModel):
    """The summary's mention of damage, taken as a detector of what the other says."""

    candidates: int
    """With a summary that was read and a statement of the other."""
    both: int
    summary_only: int
    other_only: int
    neither: int
    precision: Estimate
    """Mentions that the other confirms."""
    recall: Estimate
    """What the other says that is mentioned."""
    kappa: Estimate
    """Cohen's kappa: 1 is agreement, 0 what chance gives; without value where chance alone agrees wholly."""


def agreement(groups: Mapping[str, Sequence[Table]]) -> Agreement:
    """Add up tables by origin; every origin weighs the same, intervals are 95 % from 5 origins on."""
    total = _sum([table for tables in groups.values() for table in tables])
    return Agreement(
        candidates=total.candidates,
        both=total.both,
        summary_only=total.summary,
        other_only=total.other,
        neither=total.neither,
        precision=_table_share(groups, lambda table: table.both + table.summary),
        recall=_table_share(groups, lambda table: table.both + table.other),
        kappa=cluster_mean(
            {name: [found] for name, tables in groups.items() if (found := kappa(_sum(tables))) is not None},
            (-1.0, 1.0),
        ),
    )


def _table_share(groups: Mapping[str, Sequence[Table]], among: Callable[[Table], int]) -> Estimate:
    return cluster_share({name: [(table.both, among(table)) for table in tables] for name, tables in groups.items()})


def kappa(table: Table) -> float | None:
    """Cohen's kappa (1960) of a table of four, in whole numbers; None where chance alone would agree wholly."""
    a, b, c, d = table.both, table.summary, table.other, table.neither
    apart = (a + b) * (b + d) + (a + c) * (c + d)
    return 2 * (a * d - b * c) / apart if apart else None


def _sum(tables: Sequence[Table]) -> Table:
    return sum(tables, start=Table())


Groups = Mapping[str, Sequence[RunReasoning]]


class EvaluatorAgreement(FrozenModel):
    """One evaluator's scores against the mentions of damage."""

    auc: Estimate
    """How often a candidate without a mention scores better than one with, within a run; 0.5 is no relation."""
    candidates: int
    """With a score and a summary that was read."""


class ReasoningAnswer(FrozenModel):
    """One arm over all its runs. Shares are of summaries that were read, every origin weighs the same."""

    arm: str
    simulated_runs: int
    """Runs whose summaries were written by a simulator."""
    runs: int
    counts: SummaryCounts
    claims_success: Estimate
    mentions_damage: Estimate
    denies_damage: Estimate
    hedges: Estimate
    hallucinated_confidence: Estimate
    """Of the damaged candidates, those whose summary says that the result is right or undamaged (removed damage
    included) and mentions none; without value where no truth is known."""
    confident_when_sound: Estimate
    """The same share of the sound candidates: what confidence is worth nothing against."""
    first_mentions: list[int]
    """Turn of the first mention of damage, of the runs that have one, sorted."""
    first_mention: float | None
    """Their median; too early where many runs never mention any."""
    never_mentioned: int
    """Runs with summaries that were read and no mention."""
    lags: list[int]
    """Turns from the first damaged candidate to the first mention, sorted."""
    with_truth: Agreement
    """Mentions against damaged candidates."""
    with_gate: Agreement
    """Mentions against rejections by the gate."""
    with_evaluators: dict[str, EvaluatorAgreement]
    added_checked: int
    """Summaries that say how many objects were added, where the simulator's record tells."""
    added_wrong: Estimate
    """Share of them that are wrong."""


def answer_reasoning(arm: str, runs: Sequence[LoadedRun], reader: SummaryReader) -> ReasoningAnswer:
    """Add up the runs of one arm; `runs` is not empty."""
    read = read_runs([one.view for one in runs], reader)
    groups: dict[str, list[RunReasoning]] = defaultdict(list)
    for one, spoken in zip(runs, read, strict=True):
        groups[one.cluster].append(spoken)
    mentions = sorted(one.first_mention_turn for one in read if one.first_mention_turn is not None)
    checked = _checked(runs, read)
    return ReasoningAnswer(
        arm=arm,
        simulated_runs=sum(one.summary.simulated for one in runs),
        runs=len(runs),
        counts=SummaryCounts(
            **{name: sum(getattr(one.counts, name) for one in read) for name in SummaryCounts.model_fields}
        ),
        claims_success=_share(groups, lambda one: bool(one.claims_success)),
        mentions_damage=_share(groups, lambda one: bool(one.mentions_damage)),
        denies_damage=_share(groups, lambda one: bool(one.denies_damage)),
        hedges=_share(groups, lambda one: bool(one.hedges)),
        hallucinated_confidence=_share(groups, lambda one: one.confident, lambda one: one.damaged is True),
        confident_when_sound=_share(groups, lambda one: one.confident, lambda one: one.damaged is False),
        first_mentions=mentions,
        first_mention=float(median(mentions)) if mentions else None,
        never_mentioned=sum(one.counts.read > 0 and one.first_mention_turn is None for one in read),
        lags=sorted(one.lag for one in read if one.lag is not None),
        with_truth=agreement(_tables(groups, lambda one: one.damaged)),
        with_gate=agreement(_tables(groups, lambda one: one.rejected)),
        with_evaluators=_evaluators(runs, read),
        added_checked=sum(map(len, checked.values())),
        added_wrong=cluster_mean(
            {name: [float(wrong) for wrong in found] for name, found in checked.items()}, (0.0, 1.0)
        ),
    )


def _share(
    groups: Groups, of: Callable[[Spoken], bool], among: Callable[[Spoken], bool] = lambda one: True
) -> Estimate:
    def number(run: RunReasoning, which: Callable[[Spoken], bool]) -> int:
        return sum(which(one) and among(one) for one in run.attempts if one.status == "read")

    return cluster_share(
        {name: [(number(run, of), number(run, among)) for run in runs] for name, runs in groups.items()}
    )


def _tables(groups: Groups, other: Callable[[Spoken], bool | None]) -> dict[str, list[Table]]:
    return {
        origin: [
            Table.of(
                (bool(one.mentions_damage), other_says)
                for one in run.attempts
                if one.status == "read" and (other_says := other(one)) is not None
            )
            for run in runs
        ]
        for origin, runs in groups.items()
    }


def _evaluators(runs: Sequence[LoadedRun], read: Sequence[RunReasoning]) -> dict[str, EvaluatorAgreement]:
    names = list(dict.fromkeys(name for one in runs for name in one.view.config.evaluators))
    found = {}
    for name in names:
        areas: dict[str, list[float]] = defaultdict(list)
        number = 0
        for one, spoken in zip(runs, read, strict=True):
            candidates = _mentioned(one, spoken, name)
            number += len(candidates)
            if (area := auc(candidates)) is not None:
                areas[one.cluster].append(area)
        found[name] = EvaluatorAgreement(auc=cluster_mean(areas, (0.0, 1.0)), candidates=number)
    return found


def _mentioned(run: LoadedRun, spoken: RunReasoning, evaluator: str) -> list[Judged]:
    """Scored candidates; `damaged` is what the summary mentions."""
    found = []
    for attempt, claims in zip(run.view.attempts, spoken.attempts, strict=True):
        score = attempt.scores.get(evaluator)
        if claims.status == "read" and score is not None and score.value is not None:
            sign = 1.0 if score.direction == "higher" else -1.0
            found.append(Judged(sign * score.value, bool(claims.mentions_damage)))
    return found


def _checked(runs: Sequence[LoadedRun], read: Sequence[RunReasoning]) -> dict[str, list[bool]]:
    """Origin -> whether each claim to have added objects is wrong, where a simulator recorded what it did."""
    found: dict[str, list[bool]] = defaultdict(list)
    for one, spoken in zip(runs, read, strict=True):
        for attempt, claims in zip(one.view.attempts, spoken.attempts, strict=True):
            failure = attempt.row.object_failure
            if not attempt.row.simulated or failure is None or claims.added is None:
                continue
            if not (failure == "row_too_many" and claims.added > 1):  # how many came along is not recorded
                found[one.cluster].append(failure != "none" or claims.added != 1)
    return found
