"""A whole run, read from its folder once, and which image stands after each turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from turngate.component import Direction
from turngate.errors import counted
from turngate.picture import Picture
from turngate.traces.analysis.html import paragraph, pictures_html
from turngate.traces.progress import Progress, advance, run_status
from turngate.traces.recorded import RecordedConfig
from turngate.traces.records import (
    LEADING_TRUTH,
    AttemptRecord,
    AttemptRow,
    CompositeRow,
    DecisionRow,
    EventRow,
    RunStatus,
    ScoreRow,
    TruthRow,
    is_damaged,
)
from turngate.traces.run_folder import RunFolder, RunInfo

__all__ = [
    "AttemptView",
    "Outcome",
    "RunView",
    "Standing",
    "attempt_views",
    "seen_by",
    "standings",
    "truth_direction",
    "truth_doubts",
    "truth_unit",
    "turns_of",
    "with_threshold",
]


Outcome = Literal["caught", "propagated", "passed", "false_alarm"]
"""What happened to a candidate whose truth is known: kept out or let through, damaged or sound."""


@dataclass(frozen=True)
class AttemptView:
    """One attempt with its scores, truth and decision."""

    row: AttemptRow
    scores: dict[str, ScoreRow]
    """Evaluator name -> result."""
    truth: TruthRow | None
    """The leading one."""
    decision: DecisionRow
    taken: bool
    """The candidate became the current image (a forced accept included)."""
    made: CompositeRow | None = None
    """What this attempt's decision made in a masked accept, perhaps of an earlier candidate of the turn; without an
    image where there was nothing to take."""
    composite: CompositeRow | None = None
    """What a masked accept took of this candidate, whichever attempt's decision made it."""
    more_truths: Mapping[str, TruthRow] = field(default_factory=dict)
    """Name -> truth by that measure, where the run has more than one."""

    @property
    def standing(self) -> TruthRow | None:
        """Truth of the image that was taken: the composite's after a masked accept, otherwise the candidate's."""
        return self.truth if self.composite is None else self.composite.truth

    @property
    def standing_scores(self) -> dict[str, ScoreRow]:
        """Scores of the image that was taken: the composite's after a masked accept, otherwise the candidate's."""
        if self.composite is None:
            return self.scores
        return {score.evaluator: score for score in self.composite.scores}

    @property
    def outcome(self) -> Outcome | None:
        """What happened to the candidate; None when there is none, nothing changed, or the truth is not known."""
        if self.row.outcome != "edited" or self.truth is None or self.truth.damaged is None:
            return None
        if not self.taken:
            return "caught" if self.truth.damaged else "false_alarm"
        # A masked accept takes a composite: it can keep a candidate's damage out, and can damage a sound candidate.
        if self.standing is None or self.standing.damaged is None:
            return None
        if self.standing.damaged:
            return "propagated"
        return "caught" if self.truth.damaged else "passed"


@dataclass(frozen=True)
class RunView:
    """Everything recorded about a run, seen by one of its truths: `seen_by` puts another one in that place."""

    folder: RunFolder
    info: RunInfo
    status: RunStatus
    baseline: dict[str, ScoreRow]
    """Scores of the origin (turn 0)."""
    baseline_truth: TruthRow | None
    attempts: list[AttemptView]
    """In order of turn and attempt."""
    events: list[EventRow]
    baseline_more_truths: Mapping[str, TruthRow] = field(default_factory=dict)
    """Name -> truth of the origin by that measure, where the run has more than one."""
    seen: str = LEADING_TRUTH
    """Name of the truth in the leading place: `truth` as the run was recorded, `labels` for people's verdicts."""

    def _repr_html_(self) -> str:
        """Five standing images from first to last; `summarise` has the numbers."""
        stands = standings(self)
        chosen = sorted({round(place * (len(stands) - 1) / 4) for place in range(5)})
        shown = [
            (f"turn {stands[place].turn}" if place else "origin", self._picture(stands[place].image))
            for place in chosen
        ]
        return paragraph(f"{self.info.run}: {self.status}, {counted(len(stands) - 1, 'turn')} closed") + pictures_html(
            shown
        )

    def _picture(self, sha256: str) -> Picture:
        return Picture.from_bytes(self.folder.images.get(sha256), sha256)

    @cached_property
    def config(self) -> RecordedConfig:
        """The recorded configuration, as far as readers need it."""
        return self.info.recorded

    @cached_property
    def fake_server(self) -> bool:
        """The shipped fake server answered for the editor or for a judge: it said so at the start, or in an answer."""
        if any(server.fake for server in self.info.resolved.servers.values()):
            return True
        return any(
            attempt.row.from_fake_server or any(score.from_fake_server for score in attempt.scores.values())
            for attempt in self.attempts
        )

    @property
    def simulated(self) -> bool:
        """What came back was made up: the editor's damage is written by hand, or a fake server answered."""
        return self.info.resolved.simulated or self.fake_server

    @property
    def replayed(self) -> bool:
        """Its images were recorded before, by another run or elsewhere: nothing was edited in it."""
        return self.config.editor.type == "replay"

    @property
    def truths(self) -> tuple[str, ...]:
        """Names of its truths, the leading one first; empty without a truth."""
        return () if self.config.truth is None else (self.seen, *self.config.more_truths)

    @cached_property
    def taken(self) -> dict[int, AttemptView]:
        """Turn -> the attempt whose image it took; turns that took none are not in it."""
        return {attempt.row.turn: attempt for attempt in self.attempts if attempt.taken}

    def image_scores(self, turn: int) -> dict[str, ScoreRow]:
        """Scores of the image that a turn took; turn 0 is the origin."""
        return self.taken[turn].standing_scores if turn in self.taken else self.baseline

    def image_truth(self, turn: int) -> TruthRow | None:
        """Truth of the image that a turn took; turn 0 is the origin."""
        return self.taken[turn].standing if turn in self.taken else self.baseline_truth

    @classmethod
    def load(cls, path: str | Path) -> RunView:
        """Read the run at `path`; raises `NoSuchRun` or `DamagedRun`."""
        folder = RunFolder.existing(Path(path))
        info = folder.info()
        ledger = folder.ledger()
        try:
            records, events = ledger.records(), ledger.events()
            origin = ledger.origin()
        finally:
            ledger.close()
        status = run_status(folder.path, [record.decision for record in records], events)
        baseline = {score.evaluator: score for score in origin.scores}
        views = attempt_views(records)
        return cls(folder, info, status, baseline, origin.truth, views, events, origin.more_truths)


def seen_by(run: RunView, name: str) -> RunView:
    """The run with the truth of that name in the leading place, and the leading one in its place among the others.

    Attempts, composites, origin, configuration and facts all speak of it then; decisions are those of the run. Rows
    keep their own `name`. Raises `KeyError` when the run has no such truth.
    """
    if name == run.seen:
        return run
    if name not in run.truths:
        raise KeyError(f"the run has no truth {name!r}; it has {', '.join(run.truths) or 'none'}")
    info = run.info

    def anew(attempt: AttemptView) -> AttemptView:
        truth, more = _swapped(attempt.truth, attempt.more_truths, run.seen, name)
        made, composite = (_composite(one) for one in (attempt.made, attempt.composite))
        return replace(attempt, truth=truth, more_truths=more, made=made, composite=composite)

    def _composite(row: CompositeRow | None) -> CompositeRow | None:
        if row is None:
            return None
        truth, more = _swapped(row.truth, row.more_truths, run.seen, name)
        return row.model_copy(update={"truth": truth, "more_truths": more})

    lead, more = _swapped(info.config["truth"], info.config["more_truths"], run.seen, name)
    facts, more_facts = _swapped(info.resolved.truth, info.resolved.more_truths, run.seen, name)
    config = {**info.config, "truth": lead, "more_truths": more}
    resolved = info.resolved.model_copy(update={"truth": facts, "more_truths": more_facts})
    base, more_base = _swapped(run.baseline_truth, run.baseline_more_truths, run.seen, name)
    return replace(
        run,
        info=info.model_copy(update={"config": config, "resolved": resolved}),
        baseline_truth=base,
        baseline_more_truths=more_base,
        attempts=[anew(attempt) for attempt in run.attempts],
        seen=name,
    )


_V = TypeVar("_V")


def _swapped(lead: _V | None, more: Mapping[str, _V], seen: str, name: str) -> tuple[_V | None, dict[str, _V]]:
    """What stands under `name` in `more`, and `more` with `lead` under `seen` in its place."""
    keys = list(more) if name in more else [name, *more]
    values = {**more, seen: lead}
    renamed = [seen if key == name else key for key in keys]
    return more.get(name), {key: value for key in renamed if (value := values[key]) is not None}


def attempt_views(records: Sequence[AttemptRecord]) -> list[AttemptView]:
    """All attempts of a run, each with what later became of it."""
    taken = {
        (record.decision.turn, record.decision.taken_attempt): record.composite
        for record in records
        if record.decision.taken_attempt is not None
    }
    return [
        AttemptView(
            record.attempt,
            {score.evaluator: score for score in record.scores},
            record.truth,
            record.decision,
            (key := (record.attempt.turn, record.attempt.attempt)) in taken,
            record.composite,
            taken.get(key),
            record.more_truths,
        )
        for record in records
    ]


@dataclass(frozen=True)
class Standing:
    """The current image after a turn, and what is known about it."""

    run: RunView = field(repr=False)
    turn: int
    """0 before the first turn."""
    image: str
    """SHA-256."""
    image_turn: int
    """Turn that accepted it; 0 for the origin."""
    sound: bool | None
    """None when its truth is not known."""

    @property
    def scores(self) -> dict[str, ScoreRow]:
        """Its scores, by evaluator."""
        return self.run.image_scores(self.image_turn)

    @property
    def truth(self) -> TruthRow | None:
        """Its truth."""
        return self.run.image_truth(self.image_turn)

    @property
    def untouched(self) -> bool:
        """It is the origin, or pixel for pixel what the truth compares it with: its value ends the scale."""
        return self.image_turn == 0 or (self.truth is not None and self.truth.untouched)

    @property
    def truth_value(self) -> float | None:
        """Its truth in the measure's unit; None when it is not known, and when it is untouched."""
        return None if self.truth is None or self.untouched else self.truth.value


def turns_of(run: RunView) -> dict[int, list[AttemptView]]:
    """Turn -> its attempts, in order."""
    turns: dict[int, list[AttemptView]] = {}
    for attempt in run.attempts:
        turns.setdefault(attempt.row.turn, []).append(attempt)
    return turns


def standings(run: RunView) -> list[Standing]:
    """The current image at the start and after every closed turn."""
    progress = Progress.start(run.info.origin.image)
    sound = {0: _sound(run.baseline_truth)}
    found = [Standing(run, 0, progress.image, 0, sound[0])]
    for attempt in run.attempts:
        progress = advance(progress, attempt.decision)
        if not attempt.decision.closes_turn:
            continue
        turn = attempt.row.turn
        if turn in run.taken:
            sound[turn] = _sound_image(run.taken[turn], sound)
        found.append(Standing(run, turn, progress.image, progress.image_turn, sound.get(progress.image_turn)))
    return found


def _sound_image(taken: AttemptView, sound: Mapping[int, bool | None]) -> bool | None:
    if taken.row.outcome == "no_change":  # the same bytes are as sound as they were
        return sound.get(taken.row.input_turn)
    return _sound(taken.standing)


def _sound(truth: TruthRow | None) -> bool | None:
    return None if truth is None or truth.damaged is None else not truth.damaged


# Truths that rest on a registration which may be wrong.

_WORDS = {
    "unregistered": (
        "it was not found how {they} {lie} on the reference, so the whole frames were compared: a crop or a shift "
        "counts as damage there"
    ),
    "uncertain": (
        "how {they} {lie} on the reference is uncertain by a pixel or more, for want of fine detail: what compares "
        "pixels may be too severe there"
    ),
}
"""First word of a flag -> what it means for the truth."""


def truth_doubts(runs: Iterable[RunView]) -> list[str]:
    """One sentence per kind of doubt about the truth of candidates, with how many they are."""
    found: Counter[str] = Counter()
    for run in runs:
        for attempt in run.attempts:
            if attempt.truth is not None and attempt.truth.value is not None:
                kinds = {flag.partition(":")[0] for flag in attempt.truth.flags}
                found.update(kinds & _WORDS.keys())
    return [_sentence(found[kind], words) for kind, words in _WORDS.items() if found[kind]]


def _sentence(number: int, words: str) -> str:
    one = number == 1
    what = words.format(they="it" if one else "they", lie="lies" if one else "lie")
    return f"Truth of {counted(number, 'candidate')}: {what}."


# The same run under another threshold of `damaged`.


def truth_direction(run: RunView) -> Direction:
    """Which way the run's truth is better: a reference metric's own; a simulator's damage is better when lower."""
    truth = run.info.resolved.truth
    return truth.direction if truth is not None else "lower"


_UNITS = {"psnr": "dB", "ciede2000": "CIEDE2000", "control_regions": "levels", "outside_edit": "levels"}
"""Unit of each measure that has one."""


def truth_unit(run: RunView) -> str:
    """Unit of the run's truth, to print at its numbers; empty for a measure without one and without a truth."""
    truth = run.baseline_truth or next((one.truth for one in run.attempts if one.truth is not None), None)
    return _UNITS.get(truth.measure, "") if truth is not None else ""


def with_threshold(run: RunView, damaged_at: float) -> RunView:
    """The run with `damaged` taken anew from the recorded truth values.

    What was recorded stays: decisions are those of the run. A gate that saw the truth (the oracle) saw the old one.
    """
    better = truth_direction(run)

    def again(row: TruthRow | None) -> TruthRow | None:
        if row is None:
            return None
        damaged = is_damaged(row.value, damaged_at, better)
        return row.model_copy(update={"damaged": damaged, "damaged_at": damaged_at})

    def composed(row: CompositeRow | None) -> CompositeRow | None:
        return None if row is None else row.model_copy(update={"truth": again(row.truth)})

    def anew(attempt: AttemptView) -> AttemptView:
        made, composite = composed(attempt.made), composed(attempt.composite)
        return replace(attempt, truth=again(attempt.truth), made=made, composite=composite)

    attempts = [anew(attempt) for attempt in run.attempts]
    return replace(run, attempts=attempts, baseline_truth=again(run.baseline_truth))
