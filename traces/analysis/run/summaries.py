"""What a run's editor says about its work, beside what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turngate.frozen import FrozenModel
from turngate.traces.analysis.run.run_view import AttemptView, RunView

if TYPE_CHECKING:
    from turngate.agent.reasoning.reading import ReaderResult, SummaryReader

__all__ = ["RunReasoning", "Spoken", "SummaryCounts", "read_run", "read_runs"]


class SummaryCounts(FrozenModel):
    """The four counts beside every aggregate of summaries; over all attempts."""

    read: int = 0
    """There was a summary and it was understood."""
    unread: int = 0
    """There was one and it was not: another language, no answer of the model that reads."""
    missing: int = 0
    """The editor gave an image and no summary."""
    no_image: int = 0
    """The editor gave no image; what it said is not looked at."""


class Spoken(FrozenModel):
    """One attempt: what its summary says, and what is known about its candidate."""

    turn: int
    attempt: int
    status: str
    """`read`, `unread`, `missing` or `no_image`."""
    claims_success: bool | None = None
    """None, as the next three, unless it was read."""
    mentions_damage: bool | None = None
    denies_damage: bool | None = None
    hedges: bool | None = None
    kinds: list[str] = []
    """Kinds of the damage that is mentioned."""
    added: int | None = None
    """Objects that the summary says were added; None where it does not say."""
    counts: list[str] = []
    """Numbers of objects, as `3 apple` or `+1 apple`."""
    evidence: list[str] = []
    """Label and the words that it rests on, one line each; why it was not read."""
    damaged: bool | None = None
    """Truth of the candidate; None where it is not known."""
    rejected: bool | None = None
    """The gate's verdict; None where another rule decided."""

    @property
    def confident(self) -> bool:
        """It says that the result is right or undamaged, and speaks of no damage that is there."""
        return bool(self.claims_success or self.denies_damage) and not self.mentions_damage


class RunReasoning(FrozenModel):
    """All attempts of a run."""

    run: str
    """Run id."""
    attempts: list[Spoken]
    counts: SummaryCounts
    first_mention_turn: int | None
    """First turn with a summary that mentions damage."""
    first_mention_of: dict[str, int]
    """Kind of damage -> first turn that mentions it."""
    first_damaged_turn: int | None
    """First turn with a damaged candidate; None without one, and without a truth."""

    @property
    def lag(self) -> int | None:
        """Turns from the first damaged candidate to the first mention, negative when the mention came first."""
        if self.first_mention_turn is None or self.first_damaged_turn is None:
            return None
        return self.first_mention_turn - self.first_damaged_turn


def read_run(run: RunView, reader: SummaryReader) -> RunReasoning:
    """Read the summaries of one run."""
    return read_runs([run], reader)[0]


def read_runs(runs: Sequence[RunView], reader: SummaryReader) -> list[RunReasoning]:
    """The same for several: equal summaries are read once."""
    texts = dict.fromkeys(
        attempt.row.reasoning for run in runs for attempt in run.attempts if _status(attempt) == "read"
    )
    readings = dict(zip(texts, reader.read(list(texts)), strict=True))
    return [
        _run(run, [_spoken(attempt, readings.get(attempt.row.reasoning)) for attempt in run.attempts]) for run in runs
    ]


def _status(attempt: AttemptView) -> str:
    """`read` is what it will be if it can be read."""
    if attempt.row.image is None:
        return "no_image"
    return "read" if (attempt.row.reasoning or "").strip() else "missing"


def _spoken(attempt: AttemptView, reading: ReaderResult | None) -> Spoken:
    row, truth = attempt.row, attempt.truth
    known = Spoken(
        turn=row.turn,
        attempt=row.attempt,
        status=_status(attempt),
        damaged=truth.damaged if truth is not None and row.outcome == "edited" else None,
        rejected=attempt.decision.verdict == "reject" if attempt.decision.rule == "gate" else None,
    )
    if reading is None or known.status != "read":
        return known
    if reading.status == "unread":
        return known.model_copy(update={"status": "unread", "evidence": [f"{reading.why}: {reading.detail}"]})
    counts = reading.counts or ()
    added = [count.number for count in counts if count.added]
    claims = {
        "claims_success": reading.claims_success,
        "mentions_damage": reading.mentions_damage,
        "denies_damage": reading.denies_damage,
        "hedges": reading.hedges,
        "kinds": list(reading.kinds),
        "added": sum(added) if added else None,
        "counts": [str(count) for count in counts],
        "evidence": [f"{finding.label}: {finding.words}" for finding in reading.findings],
    }
    return known.model_copy(update=claims)


def _run(run: RunView, attempts: list[Spoken]) -> RunReasoning:
    mentions = [one for one in attempts if one.mentions_damage]
    first_of: dict[str, int] = {}
    for one in mentions:
        for kind in one.kinds:
            first_of.setdefault(kind, one.turn)
    statuses = [one.status for one in attempts]
    return RunReasoning(
        run=run.info.run,
        attempts=attempts,
        counts=SummaryCounts(**{status: statuses.count(status) for status in SummaryCounts.model_fields}),
        first_mention_turn=mentions[0].turn if mentions else None,
        first_mention_of=first_of,
        first_damaged_turn=next((one.turn for one in attempts if one.damaged), None),
    )
