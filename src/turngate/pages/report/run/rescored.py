"""What the page of a run shows of scores that were made after it, apart from those that its gate saw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from turngate.errors import counted
from turngate.pages.report.charts import Panel, score_panel
from turngate.pages.report.run.turns import mean_score, untouched, without_score
from turngate.traces.analysis.run import (
    MARK,
    Counts,
    RescoredEvaluator,
    RescoredScores,
    RunView,
    in_words,
    read_rescored,
    rescored_names,
    summarise,
    turns_in_words,
    with_rescored,
)
from turngate.traces.rescored import ScoringPass, ScoringPassEnd

__all__ = ["RescoredRow", "RescoredSection", "ScoringPassLine", "rescored_section"]


@dataclass(frozen=True)
class RescoredRow:
    """One evaluator that scored the run after it."""

    name: str
    """With the mark."""
    label: str
    """Without it, where the place says so already."""
    panel: Panel | None
    """None when no candidate has a score."""
    counts: Counts
    """Over all attempts."""
    mean: float | None
    """Of the candidates that were scored and are not untouched."""
    untouched: int
    """Candidates with the very pixels of what they were compared with."""
    evaluator: RescoredEvaluator


@dataclass(frozen=True)
class ScoringPassLine:
    """One `turngate score`, in words."""

    when: str
    evaluators: list[str]
    how_many: str
    ended: str
    made_with: str


@dataclass(frozen=True)
class RescoredSection:
    """All of it; empty where nothing was scored."""

    run: RunView
    """The run with these scores in the place of its own."""
    images: int
    """Total number of images."""
    evaluators: list[RescoredRow]
    passes: list[ScoringPassLine]
    notices: list[str]
    without_score: list[str]
    """Kinds of results without a value that its charts show."""


def rescored_section(run: RunView) -> RescoredSection:
    """Read what was scored after `run`."""
    read = read_rescored(run)
    names = rescored_names(read.evaluators)
    through = with_rescored(run, read.evaluators, names)
    counts = summarise(through).counts
    found = []
    for evaluator in read.evaluators:
        name = names[evaluator.key]
        panel = score_panel(through, name)
        found.append(
            RescoredRow(
                name,
                name.removesuffix(MARK),
                panel,
                counts[name],
                mean_score(through, name),
                untouched(through, name),
                evaluator,
            )
        )
    kinds = [kind for kind in ("unscored", "failed") if any(getattr(one.counts, kind) for one in found)]
    if any(one.counts.skipped or one.evaluator.partial for one in found):
        kinds.append("skipped")
    return RescoredSection(
        through, read.images, found, [_line(*one) for one in read.passes], _notices(read, through, found), kinds
    )


def _notices(read: RescoredScores, through: RunView, found: Sequence[RescoredRow]) -> list[str]:
    lines = [f"What was scored afterwards cannot be shown: {read.trouble}"] if read.trouble else []
    if read.strangers:
        one = read.strangers == 1
        lines.append(
            f"{read.strangers} {'score' if one else 'scores'} that {'was' if one else 'were'} made afterwards "
            f"{'belongs' if one else 'belong'} to other images than those of this run: left out."
        )
    parts: dict[str, list[str]] = defaultdict(list)
    for each in found:
        if each.evaluator.partial:
            parts[each.evaluator.extent].append(each.label)
    lines.extend(f"{', '.join(names)}{MARK} looked at a part only: {extent}." for extent, names in parts.items())
    for each in found:
        sentence = without_score(through, each.name)
        if sentence:
            lines.append(sentence)
    return lines


def _line(asked: ScoringPass, end: ScoringPassEnd | None) -> ScoringPassLine:
    images = counted(asked.images, "image")
    how_many = f"{asked.chosen} of {images}" if asked.chosen < asked.images else f"all {images}"
    chosen = _selection(asked.selection)
    ended = "killed, or still at work" if end is None else f"{end.status}, {counted(end.added, 'result')} added"
    git = asked.made_with.get("git") or {}
    version = (asked.made_with.get("packages") or {}).get("turngate", "of an unknown version")
    revision = f", {git['revision'][:12]}{' with uncommitted changes' if git.get('dirty') else ''}" if git else ""
    return ScoringPassLine(
        when=f"{datetime.fromtimestamp(asked.started_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC",
        evaluators=[_evaluator(one) for one in asked.evaluators],
        how_many=f"{how_many}{f' ({chosen})' if chosen else ''}",
        ended=f"{ended}{f': {end.reason}' if end and end.reason else ''}",
        made_with=f"turngate {version}{revision}, Python {asked.made_with.get('python')}",
    )


def _selection(selection: Mapping[str, Any]) -> str:
    words = [f"turns {turns_in_words(selection['turns'])}"] if selection.get("turns") else []
    return ", ".join([*words, *([f"the first {selection['limit']}"] if "limit" in selection else [])])


def _evaluator(metadata: Mapping[str, Any]) -> str:
    settings = {name: value for name, value in (metadata.get("settings") or {}).items() if name != "type"}
    kind = "" if metadata.get("name") == metadata.get("type") else f" ({metadata.get('type')})"
    words = in_words(settings)
    return f"{metadata.get('name')}{kind}, version {metadata.get('version')}{f', {words}' if words else ''}"
