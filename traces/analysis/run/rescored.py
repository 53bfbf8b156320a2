"""What was scored after a run (`turngate score`), apart from the scores that its gate could see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from turngate.errors import DamagedRun, MachineError, counted, one_line
from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.images import ImageKey, ImageRole, run_images
from turngate.traces.recorded import RecordedFacts
from turngate.traces.records import ScoreRow
from turngate.traces.rescored import FILE_NAME, ScoredRow, ScoreTable, ScoringPass, ScoringPassEnd

__all__ = [
    "MARK",
    "EvaluatorKey",
    "RescoredEvaluator",
    "RescoredScores",
    "read_rescored",
    "rescored_names",
    "turns_in_words",
    "with_rescored",
]


EvaluatorKey = tuple[str, str, str]
"""Type, version and SHA-256 of the settings: what makes two evaluators the same one."""


@dataclass(frozen=True)
class RescoredEvaluator:
    """One evaluator, in one version and with one set of settings, that scored images of a run after it."""

    given: str
    """Name that it was given first."""
    type: str
    version: str
    parameters: str
    """SHA-256 of the settings."""
    metadata: Mapping[str, Any]
    """Settings, direction, range, weights and source, as its first pass recorded them."""
    direction: Literal["higher", "lower"]
    rows: Mapping[ImageKey, ScoredRow]
    """Its latest answer about each image of the run."""
    images: int
    """Images that the run has: origin, candidates and composites."""

    @property
    def key(self) -> EvaluatorKey:
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
            return f"all {counted(self.images, 'image')}"
        turns = sorted({turn for turn, _, _ in self.rows})
        which = f"{'turn' if len(turns) == 1 else 'turns'} {turns_in_words(turns)}"
        return f"{len(self.rows)} of {counted(self.images, 'image')}, {which}"


@dataclass(frozen=True)
class RescoredScores:
    """All that was scored after a run."""

    evaluators: list[RescoredEvaluator]
    """In the order of their first pass."""
    images: int
    """Images that the run has."""
    passes: list[tuple[ScoringPass, ScoringPassEnd | None]]
    """Every `turngate score`, in order, and how it ended; None for one that was killed or is at work."""
    strangers: int = 0
    """Rows about other images than those of the run; they are left out."""
    trouble: str = ""
    """Why the scores cannot be read; then there are none."""


def read_rescored(run: RunView) -> RescoredScores:
    """Scores beside the run's ledger. A file that cannot be read is reported, no error: the run is whole without it."""
    path = run.folder.path / FILE_NAME
    images = run_images(run.info.origin.image, ((attempt.row, attempt.made) for attempt in run.attempts))
    if not path.is_file():
        return RescoredScores([], len(images), [])
    try:
        table = ScoreTable(path, read_only=True)
        try:
            rows, passes = table.scores(), table.passes()
        finally:
            table.close()
        rows = [ScoredRow.model_validate(vars(row)) for row in rows]
        passes = [(ScoringPass.model_validate(vars(asked)), end) for asked, end in passes]
    except (DamagedRun, MachineError, ValueError) as error:
        return RescoredScores([], len(images), [], trouble=one_line(error, 300))
    mine = [row for row in rows if _place(row) in images and row.image in ("", images[_place(row)])]
    metadata = {
        (str(one.get("type")), str(one.get("version")), str(one.get("parameters"))): one
        for asked, _ in reversed(passes)
        for one in asked.evaluators
    }
    found = _evaluators(mine, metadata, len(images))
    return RescoredScores(found, len(images), passes, strangers=len(rows) - len(mine))


def _evaluators(
    rows: Iterable[ScoredRow], metadata: Mapping[EvaluatorKey, Mapping[str, Any]], images: int
) -> list[RescoredEvaluator]:
    found: dict[EvaluatorKey, dict[ImageKey, ScoredRow]] = {}
    given: dict[EvaluatorKey, str] = {}
    for row in sorted(rows, key=lambda one: (one.started_ns, one.tries)):  # the latest answer counts
        key = (row.type, row.version, row.parameters)
        given.setdefault(key, row.evaluator)
        found.setdefault(key, {})[_place(row)] = row
    return [
        RescoredEvaluator(
            given[key], *key, metadata.get(key, {}), next(iter(places.values())).direction, places, images
        )
        for key, places in found.items()
    ]


def _place(row: ScoredRow) -> ImageKey:
    return row.turn or 0, row.attempt or 0, row.role


def turns_in_words(turns: Sequence[int]) -> str:
    """`0 to 3, 7`; `turns` are sorted and not empty."""
    starts = [turns[0], *(after for before, after in pairwise(turns) if after != before + 1)]
    ends = [*(before for before, after in pairwise(turns) if after != before + 1), turns[-1]]
    return ", ".join(
        str(first) if first == last else f"{first} to {last}" for first, last in zip(starts, ends, strict=True)
    )


# A run as it looks through the scores that were made after it.

MARK = " (scored afterwards)"
"""Ends the name of every evaluator whose scores no gate saw: in reports, plots and the answer of a study."""


def rescored_names(found: Iterable[RescoredEvaluator]) -> dict[EvaluatorKey, str]:
    """Evaluator -> a name of its own: the given one, with version and settings where others share it, and `MARK`.

    Give all evaluators of a study at once, or one name would mean two things in two of its runs.
    """
    sharing: dict[str, dict[EvaluatorKey, RescoredEvaluator]] = defaultdict(dict)
    for one in found:
        sharing[one.given].setdefault(one.key, one)
    names: dict[EvaluatorKey, str] = {}
    for given, same in sharing.items():
        for key, one in same.items():
            if key in names:  # the same evaluator under another name in another run
                continue
            name = " ".join([given, *_apart(one, list(same.values()))]) + MARK
            names[key] = name if name not in names.values() else f"{given} {one.parameters[:8]}{MARK}"
    return names


def with_rescored(run: RunView, found: Sequence[RescoredEvaluator], names: Mapping[EvaluatorKey, str]) -> RunView:
    """The run with the scores that were made afterwards in the place of those that its gate saw.

    Truth and decisions are those of the run. What was not looked at has no score; where the editor gave no image, the
    evaluator is skipped, as it is in a run.
    """
    named = {names[one.key]: one for one in found}

    def scores(turn: int, attempt: int, role: ImageRole) -> dict[str, ScoreRow]:
        rows = {name: one.rows.get((turn, attempt, role)) for name, one in named.items()}
        return {name: _score(name, row) for name, row in rows.items() if row is not None}

    def anew(attempt: AttemptView) -> AttemptView:
        row = attempt.row
        composite = attempt.composite
        if composite is not None:
            found = scores(composite.turn, composite.attempt, "composite")
            composite = composite.model_copy(update={"scores": list(found.values())})
        if row.image is None:
            skipped = {name: _skipped(name, one, attempt) for name, one in named.items()}
            return replace(attempt, scores=skipped, composite=composite)
        return replace(attempt, scores=scores(row.turn, row.attempt, "candidate"), composite=composite)

    config = {**run.info.config, "evaluators": {name: one.metadata.get("settings", {}) for name, one in named.items()}}
    facts = {name: RecordedFacts.model_validate(dict(one.metadata)) for name, one in named.items()}
    resolved = run.info.resolved.model_copy(update={"evaluators": facts})
    info = run.info.model_copy(update={"config": config, "resolved": resolved})
    return replace(run, info=info, baseline=scores(0, 0, "origin"), attempts=[anew(one) for one in run.attempts])


def _apart(one: RescoredEvaluator, same: Sequence[RescoredEvaluator]) -> list[str]:
    """What tells one evaluator from those of the same name."""
    words = []
    if len({other.type for other in same}) > 1:
        words.append(one.type)
    if len({other.version for other in same}) > 1:
        words.append(one.version)
    settings = [_settings(other) for other in same if other.metadata]
    mine = _settings(one)
    differing = sorted(
        {name for each in settings for name in each if any(each.get(name) != s.get(name) for s in settings)}
    )
    words += [f"{name} {mine[name]}" for name in differing if mine.get(name) is not None]
    return words


def _settings(one: RescoredEvaluator) -> dict[str, Any]:
    settings = one.metadata.get("settings") or {}
    return {name: value for name, value in settings.items() if name != "type"}


def _score(name: str, row: ScoredRow) -> ScoreRow:
    fields = {field: getattr(row, field) for field in ScoreRow.model_fields if field != "evaluator"}
    return ScoreRow(evaluator=name, **{**fields, "turn": row.turn or 0, "attempt": row.attempt or 0})


def _skipped(name: str, one: RescoredEvaluator, attempt: AttemptView) -> ScoreRow:
    row = attempt.row
    return ScoreRow(
        turn=row.turn, attempt=row.attempt, evaluator=name, type=one.type, version=one.version, status="skipped",
        why="no_image", direction=one.direction, started_ns=row.ended_ns, ended_ns=row.ended_ns,
    )  # fmt: skip
