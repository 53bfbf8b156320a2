"""A run as it looks through the scores that were made after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from turngate.traces.analysis.run.rescored import Key, Later
from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.records import ScoreRow
from turngate.traces.rescored.records import Role, ScoredRow

__all__ = ["MARK", "later_names", "with_later"]

MARK = " (scored afterwards)"
"""Ends the name of every evaluator whose scores no gate saw: in reports, plots and the answer of a study."""

_NOT_KEPT = {"turn", "attempt", "evaluator", "started_ns", "ended_ns"}
"""Fields that a composite's scores are kept without."""


def later_names(found: Iterable[Later]) -> dict[Key, str]:
    """Evaluator -> a name of its own: the given one, with version and settings where others share it, and `MARK`.

    Give all evaluators of a study at once, or one name would mean two things in two of its runs.
    """
    sharing: dict[str, dict[Key, Later]] = defaultdict(dict)
    for one in found:
        sharing[one.given].setdefault(one.key, one)
    names: dict[Key, str] = {}
    for given, same in sharing.items():
        for key, one in same.items():
            if key in names:  # the same evaluator under another name in another run
                continue
            name = " ".join([given, *_apart(one, list(same.values()))]) + MARK
            names[key] = name if name not in names.values() else f"{given} {one.parameters[:8]}{MARK}"
    return names


def with_later(run: RunView, found: Sequence[Later], names: Mapping[Key, str]) -> RunView:
    """The run with the scores that were made afterwards in the place of those that its gate saw.

    Truth and decisions are those of the run. What was not looked at has no score; where the editor gave no image, the
    evaluator is skipped, as it is in a run.
    """
    named = {names[one.key]: one for one in found}

    def scores(turn: int, attempt: int, role: Role) -> dict[str, ScoreRow]:
        rows = {name: one.rows.get((turn, attempt, role)) for name, one in named.items()}
        return {name: _score(name, row) for name, row in rows.items() if row is not None}

    def anew(attempt: AttemptView) -> AttemptView:
        row = attempt.row
        composite = attempt.composite
        if composite is not None:
            told = scores(row.turn, row.attempt, "composite")
            composite = {
                **composite,
                "scores": {name: one.model_dump(mode="json", exclude=_NOT_KEPT) for name, one in told.items()},
            }
        if row.image is None:
            skipped = {name: _skipped(name, one, attempt) for name, one in named.items()}
            return replace(attempt, scores=skipped, composite=composite)
        return replace(attempt, scores=scores(row.turn, row.attempt, "candidate"), composite=composite)

    config = {**run.info.config, "evaluators": {name: one.told.get("settings", {}) for name, one in named.items()}}
    resolved = {**run.info.resolved, "evaluators": {name: dict(one.told) for name, one in named.items()}}
    info = run.info.model_copy(update={"config": config, "resolved": resolved})
    return replace(run, info=info, baseline=scores(0, 0, "origin"), attempts=[anew(one) for one in run.attempts])


def _apart(one: Later, same: Sequence[Later]) -> list[str]:
    """What tells one evaluator from those of the same name."""
    words = []
    if len({other.type for other in same}) > 1:
        words.append(one.type)
    if len({other.version for other in same}) > 1:
        words.append(one.version)
    settings = [_settings(other) for other in same if other.told]
    mine = _settings(one)
    differing = sorted(
        {name for each in settings for name in each if any(each.get(name) != s.get(name) for s in settings)}
    )
    words += [f"{name} {mine[name]}" for name in differing if mine.get(name) is not None]
    return words


def _settings(one: Later) -> dict[str, Any]:
    settings = one.told.get("settings") or {}
    return {name: value for name, value in settings.items() if name != "type"}


def _score(name: str, row: ScoredRow) -> ScoreRow:
    fields = {field: getattr(row, field) for field in ScoreRow.model_fields if field != "evaluator"}
    return ScoreRow(evaluator=name, **{**fields, "turn": row.turn or 0, "attempt": row.attempt or 0})


def _skipped(name: str, one: Later, attempt: AttemptView) -> ScoreRow:
    row = attempt.row
    return ScoreRow(
        turn=row.turn, attempt=row.attempt, evaluator=name, type=one.type, version=one.version, status="skipped",
        why="no_image", direction=one.direction, started_ns=row.ended_ns, ended_ns=row.ended_ns,
    )  # fmt: skip
