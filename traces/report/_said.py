"""Reasoning summaries with what they claim marked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from turngate.traces.analysis.run.run_view import RunView
from turngate.traces.report.inert import clip

if TYPE_CHECKING:
    from turngate.agent.reasoning.reading import Reading, SummaryReader

__all__ = ["Said", "said_in"]

_WORDS = {
    "claims_success": "says that it succeeded",
    "denies_damage": "says that there is no damage",
    "mentions_damage": "mentions damage",
    "hedges": "limits its certainty",
}


@dataclass(frozen=True)
class Said:
    """One summary."""

    parts: list[tuple[str, str]]
    """The text in pieces, each with the label of the claim that it is, or empty."""
    labels: list[str]
    """What it says, in words; empty when nobody read it."""
    confident: bool
    """It says that all is well and mentions no damage."""


def said_in(run: RunView, reader: SummaryReader | None) -> Mapping[str, Said]:
    """Summary -> what it says, for every summary of the run; without a reader nothing is marked."""
    texts = list(dict.fromkeys(attempt.row.reasoning for attempt in run.attempts if attempt.row.reasoning))
    readings: list[Reading | None] = list(reader.read(texts)) if reader is not None else [None] * len(texts)
    return {text: _said(text, reading) for text, reading in zip(texts, readings, strict=True)}


def _said(text: str, reading: Reading | None) -> Said:
    findings = getattr(reading, "findings", ())  # a summary that could not be read has none
    shown = clip(text)
    marks: list[tuple[int, int, str]] = []
    for finding in findings:
        found = re.search(r"\W+".join(map(re.escape, finding.words.split())), shown, re.IGNORECASE)
        if found and found.end() > found.start():
            marks.append((found.start(), found.end(), finding.label))
    parts, at = [], 0
    for start, end, label in sorted(marks):
        if start >= at:
            parts += [(shown[at:start], ""), (shown[start:end], label)]
            at = end
    said = [label for label in _WORDS if getattr(reading, label, False)]
    confident = bool({"claims_success", "denies_damage"} & set(said)) and "mentions_damage" not in said
    return Said([part for part in [*parts, (shown[at:], "")] if part[0]], [_WORDS[label] for label in said], confident)
