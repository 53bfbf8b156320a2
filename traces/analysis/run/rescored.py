"""What was scored after a run (`turngate score`), apart from the scores that its gate could see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from turngate.errors import DamagedRun, MachineError
from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.rescored.records import PassEndRow, PassRow, Role, ScoredRow
from turngate.traces.rescored.table import FILE_NAME, ScoreTable

__all__ = ["Key", "Later", "LaterScores", "Place", "read_later", "turns_in_words"]

Key = tuple[str, str, str]
"""Type, version and SHA-256 of the settings: what makes two evaluators the same one."""

Place = tuple[int, int, Role]
"""Turn, attempt and role of an image in its run; 0, 0, `origin` for the origin."""


@dataclass(frozen=True)
class Later:
    """One evaluator, in one version and with one set of settings, that scored images of a run after it."""

    given: str
    """Name that it was given first."""
    type: str
    version: str
    parameters: str
    """SHA-256 of the settings."""
    told: Mapping[str, Any]
    """Settings, direction, range, weights and source, as its first pass told them."""
    direction: Literal["higher", "lower"]
    rows: Mapping[Place, ScoredRow]
    """Its latest answer about each image of the run."""
    images: int
    """Images that the run has: origin, candidates and composites."""

    @property
    def key(self) -> Key:
        """What tells it from all others."""
        return self.type, self.version, self.parameters

    @property
    def partial(self) -> bool:
        """Only some of the images were looked at: numbers over them are a choice."""
        return len(self.rows) < self.images

    @property
    def extent(self) -> str:
        """On how much of the run it looked, in words."""
        if not self.partial:
            return f"all {self.images} images"
        turns = sorted({turn for turn, _, _ in self.rows})
        return f"{len(self.rows)} of {self.images} images, turn{'s' if len(turns) > 1 else ''} {turns_in_words(turns)}"


@dataclass(frozen=True)
class LaterScores:
    """All that was scored after a run."""

    evaluators: list[Later]
    """In the order of their first pass."""
    images: int
    """Images that the run has."""
    passes: list[tuple[PassRow, PassEndRow | None]]
    """Every `turngate score`, in order, and how it ended; None for one that was killed or is at work."""
    strangers: int = 0
    """Rows about other images than those of the run; they are left out."""
    trouble: str = ""
    """Why the scores cannot be read; then there are none."""


def read_later(run: RunView) -> LaterScores:
    """Scores beside the run's ledger. A file that cannot be read is told of: the run is whole without it."""
    path, images = run.folder.path / FILE_NAME, _images(run)
    if not path.is_file():
        return LaterScores([], len(images), [])
    try:
        table = ScoreTable(path, read_only=True)
        try:
            rows, passes = table.scores(), table.passes()
        finally:
            table.close()
        rows = [ScoredRow.model_validate(vars(row)) for row in rows]
        passes = [(PassRow.model_validate(vars(asked)), end) for asked, end in passes]
    except (DamagedRun, MachineError, ValueError) as error:
        return LaterScores([], len(images), [], trouble=" ".join(str(error).split())[:300])
    mine = [row for row in rows if _place(row) in images and row.image in ("", images[_place(row)])]
    told = {
        (str(one.get("type")), str(one.get("version")), str(one.get("parameters"))): one
        for asked, _ in reversed(passes)
        for one in asked.evaluators
    }
    found = _evaluators(mine, told, len(images))
    return LaterScores(found, len(images), passes, strangers=len(rows) - len(mine))


def _evaluators(rows: Iterable[ScoredRow], told: Mapping[Key, Mapping[str, Any]], images: int) -> list[Later]:
    found: dict[Key, dict[Place, ScoredRow]] = {}
    given: dict[Key, str] = {}
    for row in sorted(rows, key=lambda one: (one.started_ns, one.tries)):  # the latest answer stands
        key = (row.type, row.version, row.parameters)
        given.setdefault(key, row.evaluator)
        found.setdefault(key, {})[_place(row)] = row
    return [
        Later(given[key], *key, told.get(key, {}), next(iter(places.values())).direction, places, images)
        for key, places in found.items()
    ]


def _images(run: RunView) -> dict[Place, str]:
    """Place -> SHA-256 of everything that can be scored."""
    images: dict[Place, str] = {(0, 0, "origin"): str(run.info.origin["image"])}
    for attempt in run.attempts:
        turn, number = attempt.row.turn, attempt.row.attempt
        if attempt.row.image is not None:
            images[turn, number, "candidate"] = attempt.row.image
        composite = attempt.decision.composite
        if composite and composite["image"] is not None:
            images[turn, number, "composite"] = composite["image"]
    return images


def _place(row: ScoredRow) -> Place:
    return row.turn or 0, row.attempt or 0, row.role


def turns_in_words(turns: Sequence[int]) -> str:
    """`0 to 3, 7`; `turns` are sorted and not empty."""
    starts = [turns[0], *(after for before, after in pairwise(turns) if after != before + 1)]
    ends = [*(before for before, after in pairwise(turns) if after != before + 1), turns[-1]]
    return ", ".join(
        str(first) if first == last else f"{first} to {last}" for first, last in zip(starts, ends, strict=True)
    )
