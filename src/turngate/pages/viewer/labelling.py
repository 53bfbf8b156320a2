"""What a person says about candidates and about attempts that wait, checked before it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from turngate.errors import one_line
from turngate.frozen import StrictModel
from turngate.traces.analysis.labels import LabelRow, append_label, read_labels
from turngate.traces.analysis.run import RunView
from turngate.traces.analysis.taxonomy import FailureName

if TYPE_CHECKING:
    from turngate.agent.reasoning.reading import SummaryReader

__all__ = ["LabelBook", "LabelInput", "ReviewVerdict", "Reviewer", "ViewerOptions"]


class LabelInput(StrictModel):
    """A label as the page sends it; what it does not say takes back what was said before."""

    turn: int = Field(ge=1, le=1_000_000)
    attempt: int = Field(ge=1, le=1_000_000)
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

    def of(self, run: RunView) -> dict[tuple[int, int], LabelRow]:
        """This person's labels of the run's candidates; raises `UserError` when the file is no label file."""
        return dict(read_labels(self.path, self.by).of(run).candidates) if self.path.exists() else {}

    def put(self, run: str, given: LabelInput) -> None:
        """Keep a label of the run with this id; raises `UserError` or `MachineError`."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        fields = {**given.model_dump(), "failure": one_line(given.failure)}
        append_label(self.path, LabelRow(run=run, by=self.by, at=now, **fields))


Reviewer = Callable[[Path, ReviewVerdict], None]
"""Called with a run's folder and the verdict; starts the run again and returns. Raises `TurngateError`."""


@dataclass(frozen=True)
class ViewerOptions:
    """What the viewer can do, as whoever starts it gives it."""

    book: LabelBook | None = None
    """Where labels go; without one nothing can be labelled."""
    review: Reviewer | None = None
    """Goes on with a run; without one no waiting run can be decided."""
    reader: SummaryReader | None = None
    """Reads reasoning summaries; without one no claim in them is marked."""
