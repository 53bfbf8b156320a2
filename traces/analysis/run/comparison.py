"""Two runs side by side: what differs in configuration, and in what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turngate.component import differences
from turngate.frozen import FrozenModel
from turngate.traces.analysis.run.run_view import AttemptView, RunView
from turngate.traces.analysis.run.summary import RunSummary, summarise

__all__ = ["Change", "Comparison", "Parting", "compare_runs"]


class Change(FrozenModel):
    """One field that differs."""

    field: str
    """Dotted path."""
    a: Any
    b: Any


class Parting(FrozenModel):
    """The first attempt in which the runs differ."""

    turn: int
    attempt: int
    what: str
    """`input`, `candidate`, `score of NAME`, `decision`, or `only in A` or `only in B`."""
    a: str | None
    b: str | None


class Comparison(FrozenModel):
    """What `turngate compare` tells."""

    config: list[Change]
    """Fields of the configuration; the origin by its content."""
    made_with: list[Change]
    """Versions and machine."""
    outcome: list[Change]
    """Fields of the summaries."""
    parting: Parting | None
    """None when all attempts are equal."""
    a: RunSummary
    b: RunSummary


def compare_runs(a: RunView, b: RunView) -> Comparison:
    """Hold two runs against each other."""
    summaries = summarise(a), summarise(b)
    skipped = {"run", "id"}
    dump_a, dump_b = (summary.model_dump(mode="json", exclude=skipped) for summary in summaries)
    return Comparison(
        config=_changes(_config(a), _config(b)),
        made_with=_changes(a.info.made_with, b.info.made_with),
        outcome=_changes(dump_a, dump_b),
        parting=_parting(a, b),
        a=summaries[0],
        b=summaries[1],
    )


def _config(run: RunView) -> dict[str, Any]:
    config = {key: value for key, value in run.info.config.items() if key != "name"}
    return {**config, "origin": {"sha256": run.info.origin.image}}


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Change]:
    found = differences(a, b, whole_components=True)
    return [Change(field=field, a=old, b=new) for field, old, new in found]


def _parting(a: RunView, b: RunView) -> Parting | None:
    ours = {(attempt.row.turn, attempt.row.attempt): attempt for attempt in a.attempts}
    theirs = {(attempt.row.turn, attempt.row.attempt): attempt for attempt in b.attempts}
    for turn, number in sorted({*ours, *theirs}):
        one, other = ours.get((turn, number)), theirs.get((turn, number))
        if one is None or other is None:
            only = "A" if other is None else "B"
            return Parting(turn=turn, attempt=number, what=f"only in {only}", a=_action(one), b=_action(other))
        for what, left, right in _aspects(one, other):
            if left != right:
                return Parting(turn=turn, attempt=number, what=what, a=left, b=right)
    return None


def _aspects(one: AttemptView, other: AttemptView) -> list[tuple[str, str | None, str | None]]:
    shared = [name for name in one.scores if name in other.scores]
    return [
        ("input", one.row.input_image, other.row.input_image),
        ("candidate", one.row.image, other.row.image),
        *((f"score of {name}", str(one.scores[name].value), str(other.scores[name].value)) for name in shared),
        ("decision", one.decision.action, other.decision.action),
    ]


def _action(attempt: AttemptView | None) -> str | None:
    return attempt.decision.action if attempt else None
