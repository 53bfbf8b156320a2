"""What people say about candidates, and which candidates of a run they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import Field, field_validator

from turngate.errors import counted
from turngate.frozen import StrictModel
from turngate.traces.analysis.run import AttemptView, RunView
from turngate.traces.analysis.taxonomy import FailureName
from turngate.traces.records import LABELS_TRUTH, CompositeRow, TruthRow

__all__ = ["MEASURE", "LabelPlace", "LabelRow", "Labels", "images_by_place", "with_labels"]


AttemptKey = tuple[int, int]
LabelPlace = tuple[str, AttemptKey]
"""`origin`, `candidate` or `composite`, and turn and attempt."""


class LabelRow(StrictModel):
    """One row of a label file. A person's later row replaces an earlier one about the same image; one that says nothing
    takes it back."""

    run: str = Field(min_length=1)
    """Run id, or path of the run's folder, relative to the label file or to the working directory."""
    turn: int = Field(ge=0)
    """0 is the origin."""
    attempt: int | None = Field(default=None, ge=0)
    """None means the image that the turn ended with."""
    damaged: bool | None = None
    """None: no verdict."""
    labels: tuple[FailureName, ...] = ()
    """Failures of the taxonomy that it shows; the others are not said to be absent."""
    failure: str = ""
    """Anything else, in words."""
    by: str = ""
    """Who looked."""
    at: str = ""
    """When, ISO 8601."""
    image: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    """SHA-256 of the image that was looked at. The row means these bytes wherever they are, in every run; empty means
    the image at the place that is named."""

    @field_validator("at")
    @classmethod
    def _time(cls, at: str) -> str:
        if at:
            datetime.fromisoformat(at)
        return at

    @property
    def empty(self) -> bool:
        """It takes an earlier row back."""
        return self.damaged is None and not self.labels and not self.failure

    @property
    def source(self) -> str:
        """Who and when, in words."""
        return " ".join(part for part in (self.by and f"by {self.by}", self.at and f"at {self.at}") if part)


@dataclass(frozen=True)
class RunLabels:
    """Labels of one run; every one has its image."""

    origin: LabelRow | None = None
    candidates: dict[AttemptKey, LabelRow] = field(default_factory=dict)
    """(turn, attempt) -> label."""
    composites: dict[int, LabelRow] = field(default_factory=dict)
    """Turn that ended with a composite (a masked accept) -> label of that composite."""
    remarks: tuple[str, ...] = ()
    """One line each: rows whose image is not there, and images that people disagree about."""


@dataclass(frozen=True)
class Labels:
    """A label file."""

    path: Path
    rows: tuple[tuple[int, LabelRow], ...]
    """Line in the file, and what it says; in order."""

    def of(self, run: RunView) -> RunLabels:
        """The labels of a run: of several people's verdicts that of the majority, and none where they are even."""
        said, remarks = self.said(run)
        rows = {place: _together(list(people.values())) for place, people in said.items()}
        apart = {place: people for place, people in said.items() if _disagree(people.values())}
        if apart:
            remarks.append(f"{self.path}: {_apart_words(apart)}")
        return RunLabels(
            rows.get(("origin", (0, 0))),
            {place: row for (kind, place), row in rows.items() if kind == "candidate"},
            {place[0]: row for (kind, place), row in rows.items() if kind == "composite"},
            tuple(remarks),
        )

    def said(self, run: RunView) -> tuple[dict[LabelPlace, dict[str, LabelRow]], list[str]]:
        """Place of an image in the run -> person -> the row that counts; and a line for each row without an image."""
        found: dict[LabelPlace, dict[str, LabelRow]] = {}
        remarks = []
        by_image: dict[str, list[LabelPlace]] = {}
        for place, image in images_by_place(run).items():
            by_image.setdefault(image, []).append(place)
        for line, row in self.rows:
            meant = self._means(row, run)
            if row.image:
                places = by_image.get(row.image, [])
                problem = "the run has no image with this SHA-256" if meant and not places else ""
            elif meant:
                named = _place(row, run)
                places, problem = ([], named) if isinstance(named, str) else ([named], "")
            else:
                continue
            if problem:
                remarks.append(f"{self.path}, line {line}: {problem}")
            for place in places:
                people = found.setdefault(place, {})
                people.pop(row.by, None)
                if not row.empty:
                    people[row.by] = row
        return {place: people for place, people in found.items() if people}, remarks

    def strangers(self, runs: Sequence[RunView]) -> list[str]:
        """One line for every run that rows name and that is none of `runs`."""
        named: dict[str, list[int]] = {}
        for line, row in self.rows:
            if not row.image:  # an image may be that of a run elsewhere
                named.setdefault(row.run, []).append(line)
        places = {run.folder.path.resolve() for run in runs} if named else set()
        ids = {run.info.run for run in runs}
        return [
            f"{self.path}, line {lines[0]}{_and_more(len(lines) - 1)}: none of the runs is {name!r}: give a run id "
            "or the path of a run"
            for name, lines in named.items()
            if name not in ids and not any(place in places for place in self._places(name))
        ]

    def _means(self, row: LabelRow, run: RunView) -> bool:
        return row.run == run.info.run or run.folder.path.resolve() in self._places(row.run)

    def _places(self, name: str) -> tuple[Path, Path]:
        """Folders that a row may mean."""
        return Path(name).resolve(), (self.path.parent / name).resolve()


def _and_more(rows: int) -> str:
    return f" and {counted(rows, 'more row')}" if rows else ""


def _place(row: LabelRow, run: RunView) -> LabelPlace | str:
    """Which image a row means, or why there is none."""
    if row.turn == 0:
        return ("origin", (0, 0)) if not row.attempt else f"turn 0 is the origin, it has no attempt {row.attempt}"
    attempts = [attempt for attempt in run.attempts if attempt.row.turn == row.turn]
    if not attempts:
        return f"the run has no turn {row.turn}"
    if row.attempt is not None:
        attempts = [attempt for attempt in attempts if attempt.row.attempt == row.attempt]
        if not attempts:
            return f"turn {row.turn} has no attempt {row.attempt}"
    else:
        taken = [attempt for attempt in attempts if attempt.taken]
        if taken and taken[0].composite is not None:
            return "composite", (row.turn, taken[0].row.attempt)
        attempts = taken or [attempt for attempt in attempts if attempt.row.image is not None] or attempts
        if len(attempts) > 1:
            return f"turn {row.turn} ended without a new image and has {len(attempts)} candidates: name the attempt"
    if attempts[0].row.image is None:
        return f"turn {row.turn}, attempt {attempts[0].row.attempt} has no image"
    return "candidate", (row.turn, attempts[0].row.attempt)


def images_by_place(run: RunView) -> dict[LabelPlace, str]:
    """Where images are in the run, as the origin, candidates and composites -> SHA-256."""
    found: dict[LabelPlace, str] = {("origin", (0, 0)): run.info.origin.image}
    for attempt in run.attempts:
        key = (attempt.row.turn, attempt.row.attempt)
        if attempt.row.image is not None:
            found["candidate", key] = attempt.row.image
        if attempt.composite is not None and attempt.composite.image is not None:
            found["composite", key] = attempt.composite.image
    return found


# What several people say of one image.


def _together(rows: Sequence[LabelRow]) -> LabelRow:
    if len(rows) == 1:
        return rows[0]
    votes = [row.damaged for row in rows if row.damaged is not None]
    damaged = None if 2 * sum(votes) == len(votes) else 2 * sum(votes) > len(votes)
    return rows[0].model_copy(
        update={
            "damaged": damaged,
            "labels": tuple(dict.fromkeys(name for row in rows for name in row.labels)),
            "failure": "; ".join(dict.fromkeys(row.failure for row in rows if row.failure)),
            "by": ", ".join(row.by for row in rows if row.by),
            "at": max(row.at for row in rows),
        }
    )


def _disagree(rows: Iterable[LabelRow]) -> bool:
    return len({row.damaged for row in rows} - {None}) > 1


def _apart_words(apart: Mapping[LabelPlace, Mapping[str, LabelRow]]) -> str:
    (_, (turn, attempt)), people = next(iter(apart.items()))
    say = ", ".join(
        f"{by or 'somebody'} {'damaged' if row.damaged else 'sound'}"
        for by, row in people.items()
        if row.damaged is not None
    )
    which = "1 image" if len(apart) == 1 else f"{len(apart)} images"
    where = f"turn {turn}, attempt {attempt}" if turn else "the origin"
    return f"people disagree about {which} of a run (first {where}: {say}); the majority counts, a tie is no verdict"


MEASURE = LABELS_TRUTH
"""Name of the measure in truth rows: 1 is damaged, 0 is sound."""
_CONFIG = {"measure": {"type": MEASURE}, "damaged_at": 1.0}
"""What stands in the place of `truth` in the configuration of a run that is seen by people's verdicts."""


def with_labels(run: RunView, labels: Labels) -> RunView:
    """The run with the truth of `labels` in the leading place; the truth of an image without a verdict is not known.

    What the run measured itself stands among the others, under its name: `seen_by` brings it back. Decisions are those
    of the run. A masked accept without a label of its own leaves the composite unknown, whatever was said of the
    candidate. `Labels.of` tells which rows have no image in the run.
    """
    given = labels.of(run)

    def anew(attempt: AttemptView) -> AttemptView:
        row = attempt.row
        made, composite = (_labelled(one, row.turn, row.attempt) for one in (attempt.made, attempt.composite))
        truth = _truth(given.candidates.get((row.turn, row.attempt)), row.turn, row.attempt)
        more = _with_lead(run.seen, attempt.truth, attempt.more_truths)
        return replace(attempt, truth=truth, more_truths=more, made=made, composite=composite)

    def _labelled(row: CompositeRow | None, turn: int, attempt: int) -> CompositeRow | None:
        if row is None:
            return None
        more = _with_lead(run.seen, row.truth, row.more_truths)
        truth = _truth(given.composites.get(turn), turn, attempt)
        return row.model_copy(update={"truth": truth, "more_truths": more})

    config, facts = run.info.config, run.info.resolved
    more = _with_lead(run.seen, config.get("truth"), config.get("more_truths", {}))
    # Without facts the direction is that of this measure: lower is better.
    known = {"truth": None, "more_truths": _with_lead(run.seen, facts.truth, facts.more_truths)}
    info = run.info.model_copy(
        update={
            "config": {**config, "truth": _CONFIG, "more_truths": more},
            "resolved": facts.model_copy(update=known),
        }
    )
    return replace(
        run,
        info=info,
        attempts=[anew(attempt) for attempt in run.attempts],
        baseline_truth=_truth(given.origin, 0, 0),
        baseline_more_truths=_with_lead(run.seen, run.baseline_truth, run.baseline_more_truths),
        seen=MEASURE,
    )


_V = TypeVar("_V")


def _with_lead(seen: str, lead: _V | None, more: Mapping[str, _V]) -> dict[str, _V]:
    """The truths that step back for the labels, the one that led first."""
    return {**({} if lead is None else {seen: lead}), **more}


def _truth(row: LabelRow | None, turn: int, attempt: int) -> TruthRow | None:
    if row is None or row.damaged is None:
        return None
    return TruthRow(
        turn=turn,
        attempt=attempt,
        name=MEASURE,
        measure=MEASURE,
        value=float(row.damaged),
        damaged_at=1.0,
        damaged=row.damaged,
        detail=row.source,
    )
