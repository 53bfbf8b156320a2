"""The failures of one run, from all sources."""

from __future__ import annotations

from collections.abc import Iterator

from turngate.frozen import FrozenModel
from turngate.traces.analysis.failures.rules import frame_failures, object_failures, surface_failures
from turngate.traces.analysis.labels import Labels
from turngate.traces.analysis.run import RunView
from turngate.traces.analysis.taxonomy import FAILURES, FailureName, Judgement

__all__ = ["LABEL_FILE", "RunFailures", "find_failures"]

LABEL_FILE = "label file"
"""Source of what people say."""


class RunFailures(FrozenModel):
    """Every judgement about the candidates of a run."""

    run: str
    """Run id."""
    judgements: list[Judgement]
    """Found and not found, in order of turn and attempt; what no source can know has none."""

    def found(self, name: FailureName) -> list[Judgement]:
        """Judgements that find it, from any source."""
        return [one for one in self.judgements if one.name == name and one.found]

    def measured(self, name: FailureName) -> dict[tuple[int, int], bool]:
        """(turn, attempt) -> whether a measuring source finds it there; a label file names only what is there."""
        places: dict[tuple[int, int], bool] = {}
        for one in self.judgements:
            if one.name == name and one.source != LABEL_FILE:
                place = (one.turn, one.attempt)
                places[place] = places.get(place, False) or one.found
        return places

    def unknown(self) -> list[FailureName]:
        """Failures that nothing was known about."""
        return [name for name in FAILURES if not any(one.name == name for one in self.judgements)]


def find_failures(run: RunView, labels: Labels | None = None) -> RunFailures:
    """Judge every candidate by what was recorded, and add what people say."""
    judgements = [*frame_failures(run), *surface_failures(run), *object_failures(run)]
    if labels is not None:
        judgements += _labelled(run, labels)
    order = {name: number for number, name in enumerate(FAILURES)}
    judgements.sort(key=lambda one: (one.turn, one.attempt, order[one.name], one.source))
    return RunFailures(run=run.info.run, judgements=judgements)


def _labelled(run: RunView, labels: Labels) -> Iterator[Judgement]:
    given = labels.of(run)
    composites = {(turn, run.taken[turn].row.attempt): row for turn, row in given.composites.items()}
    rows = {**given.candidates, **composites}
    for (turn, attempt), row in rows.items():
        for name in row.labels:
            yield Judgement(
                turn=turn,
                attempt=attempt,
                name=name,
                found=True,
                source=LABEL_FILE,
                evidence=" ".join(part for part in (row.source, row.failure) if part),
            )
