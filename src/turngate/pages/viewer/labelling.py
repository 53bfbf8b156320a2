"""What a person says about images and about attempts that wait, checked before it is written; the labelling page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from turngate.errors import NoSuchRun, UserError, one_line
from turngate.frozen import StrictModel
from turngate.pages.report import as_data
from turngate.pages.viewer.notes import NoteBook
from turngate.traces.analysis.labels import (
    LabelAgreement,
    LabelRow,
    agreements,
    append_label,
    images_by_place,
    label_queue,
    read_labels,
    verdicts_of,
)
from turngate.traces.analysis.run import RunView
from turngate.traces.analysis.taxonomy import FAILURES, FailureName

if TYPE_CHECKING:
    from turngate.agent.reasoning.reading import SummaryReader

__all__ = ["LabelBook", "LabelInput", "ReviewVerdict", "Reviewer", "ViewerOptions", "about_image", "labelling_values"]


class LabelInput(StrictModel):
    """A label as the page sends it; what it does not say takes back what was said before."""

    image: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of what was looked at."""
    damaged: bool | None = None
    labels: tuple[FailureName, ...] = ()
    failure: str = Field(default="", max_length=500)


class ReviewVerdict(StrictModel):
    """A review as the page sends it."""

    accept: bool
    comment: str = Field(default="", max_length=2000)
    by: str = Field(default="", max_length=100)
    """Who decides, as the person says."""
    turn: int
    attempt: int
    """What the person looked at: a run that went on since is not decided about."""


class LabelBook:
    """The labels that one person gives, in a label file; what others wrote there is left alone."""

    def __init__(self, path: Path, by: str) -> None:
        self.path = path
        self.by = by

    def of(self, runs: Iterable[RunView]) -> dict[str, LabelRow]:
        """SHA-256 -> this person's label; raises `UserError` when the file is no label file."""
        if not self.path.exists():
            return {}
        labels = read_labels(self.path, self.by)
        found: dict[str, LabelRow] = {}
        for run in runs:
            images = images_by_place(run)
            said, _ = labels.said(run)
            found |= {images[place]: row for place, people in said.items() for row in people.values()}
        return found

    def people(self, runs: Sequence[RunView]) -> list[LabelAgreement]:
        """How well every two people agree about images of the runs."""
        return agreements(verdicts_of(read_labels(self.path), runs)) if self.path.exists() else []

    def put(self, run: RunView, given: LabelInput) -> None:
        """Keep a label of an image of the run; raises `UserError` or `MachineError`."""
        turn, attempt = _candidate(run, given.image)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        fields = {**given.model_dump(), "failure": one_line(given.failure)}
        append_label(self.path, LabelRow(run=run.info.run, turn=turn, attempt=attempt, by=self.by, at=now, **fields))


Reviewer = Callable[[Path, ReviewVerdict], None]
"""Called with a run's folder and the verdict; starts the run again and returns. Raises `TurngateError`."""


@dataclass(frozen=True)
class ViewerOptions:
    """What the viewer can do, as whoever starts it gives it."""

    book: LabelBook | None = None
    """Where labels go; without one nothing can be labelled."""
    review: Reviewer | None = None
    """Goes on with a run; without one no waiting run can be decided."""
    notes: NoteBook | None = None
    """Where tags and notes go; without one there are none."""
    reader: SummaryReader | None = None
    """Reads reasoning summaries; without one no claim in them is marked."""


# The labelling page: the images of some runs one after the other, without a word of arm, turn, gate, truth or score.


def labelling_values(runs: Sequence[tuple[str, RunView]], options: ViewerOptions) -> dict[str, Any]:
    """What the template shows of `runs` (key in addresses, run): the queue, this person's labels, how people agree."""
    views = [view for _, view in runs]
    keys = {view.folder.path: key for key, view in runs}
    given: dict[str, LabelRow] = {}
    people: list[LabelAgreement] = []
    problem = "labels are not kept here"
    if options.book is not None:
        try:
            given, people, problem = options.book.of(views), options.book.people(views), ""
        except UserError as error:
            problem = str(error)
    queue = [
        {
            "image": one.image, "key": keys[one.run.folder.path], "origin": one.run.info.origin.image,
            "from": one.edited_from, "instruction": one.instruction,
        }
        for one in label_queue(views)
    ]  # fmt: skip
    told = {
        image: {"damaged": row.damaged, "labels": list(row.labels), "failure": row.failure}
        for image, row in given.items()
    }
    return {
        "tools_json": as_data(json.dumps({"queue": queue, "given": told, "no_labels": problem})),
        "failures": FAILURES,
        "people": [one.words for one in people],
        "by": options.book.by if options.book is not None else "",
        "images": len(queue),
    }


def about_image(run: RunView, image: str) -> list[dict[str, Any]]:
    """Where the image is in the run, what the gate and the truth say there, and its scores; for who asks to see it."""
    _candidate(run, image)
    return [
        {
            "place": f"turn {attempt.row.turn}, attempt {attempt.row.attempt}",
            "gate": f"{attempt.decision.verdict} ({attempt.decision.rule})",
            "truth": _truth_words(attempt.truth),
            "scores": {name: score.value for name, score in attempt.scores.items() if score.status == "scored"},
        }
        for attempt in run.attempts
        if attempt.row.image == image
    ]


def _truth_words(truth: Any) -> str:
    if truth is None or truth.value is None:
        return "not known"
    return f"{truth.measure} {truth.value:.4g}, {'damaged' if truth.damaged else 'sound'}"


def _candidate(run: RunView, image: str) -> tuple[int, int]:
    """Turn and attempt of the first candidate with these bytes."""
    for attempt in run.attempts:
        if attempt.row.image == image:
            return attempt.row.turn, attempt.row.attempt
    raise NoSuchRun("no candidate of this run has this image: load the page again")
