"""Where two truths of one study disagree."""

from __future__ import annotations

from collections.abc import Sequence

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run import answer_run, run_verdict, seen_by
from turngate.traces.analysis.statistics import counted
from turngate.traces.analysis.study.loaded import LoadedStudy

__all__ = ["TruthDisagreement", "disagreements"]


class TruthDisagreement(FrozenModel):
    """The leading truth against another one, over all candidates that both judged."""

    truth_name: str
    """The leading one."""
    other: str
    candidates: int
    """Different candidates with a known truth by both."""
    both_damaged: int
    both_sound: int
    only_leading: int
    """Damaged by the leading truth alone."""
    only_other: int
    """Damaged by the other alone."""
    runs: list[str]
    """Runs whose verdict differs: `ARM CELL: leading / other`."""
    of_runs: int

    @property
    def words(self) -> str:
        """One sentence."""
        apart = self.only_leading + self.only_other
        verdicts = f"the verdict differs in {len(self.runs)} of {counted(self.of_runs, 'run')}"
        if not self.candidates:
            return f"{self.truth_name} and {self.other} judged no candidate both."
        return (
            f"{self.truth_name} and {self.other} disagree on {apart} of {counted(self.candidates, 'candidate')} "
            f"({self.only_leading} damaged by {self.truth_name} alone, {self.only_other} by {self.other} alone); "
            f"{verdicts}."
        )


def disagreements(loaded: LoadedStudy, others: Sequence[str]) -> list[TruthDisagreement]:
    """One per other truth."""
    return [_disagreement(loaded, other) for other in others]


def _disagreement(loaded: LoadedStudy, other: str) -> TruthDisagreement:
    judged: dict[str, tuple[bool, bool]] = {}
    apart, number = [], 0
    for one in loaded.runs:
        if other not in one.view.truths:
            continue
        number += 1
        for attempt in one.view.attempts:
            row, lead, more = attempt.row, attempt.truth, attempt.more_truths.get(other)
            if row.outcome != "edited" or row.image is None or lead is None or more is None:
                continue
            if lead.damaged is not None and more.damaged is not None:
                judged[f"{one.cluster} {one.run.scenario} {row.image}"] = (lead.damaged, more.damaged)
        mine, theirs = one.summary.verdict, run_verdict(answer_run(seen_by(one.view, other)), one.view.status)
        if mine.kind != theirs.kind:
            apart.append(f"{one.run.arm} {one.run.label}".rstrip() + f": {mine.kind} / {theirs.kind}")
    pairs = list(judged.values())
    return TruthDisagreement(
        truth_name=loaded.truths[0],
        other=other,
        candidates=len(pairs),
        both_damaged=pairs.count((True, True)),
        both_sound=pairs.count((False, False)),
        only_leading=pairs.count((True, False)),
        only_other=pairs.count((False, True)),
        runs=apart,
        of_runs=number,
    )
