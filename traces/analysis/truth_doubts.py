"""Truths that rest on a registration which may be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from turngate.traces.analysis.counted import counted
from turngate.traces.analysis.run.run_view import RunView

__all__ = ["truth_doubts"]

_WORDS = {
    "unregistered": (
        "it was not found how {they} {lie} on the reference, so the whole frames were compared: a crop or a shift "
        "counts as damage there"
    ),
    "uncertain": (
        "how {they} {lie} on the reference is uncertain by a pixel or more, for want of fine detail: what compares "
        "pixels may be too severe there"
    ),
}
"""First word of a flag -> what it means for the truth."""


def truth_doubts(runs: Iterable[RunView]) -> list[str]:
    """One sentence per kind of doubt about the truth of candidates, with how many they are."""
    found: Counter[str] = Counter()
    for run in runs:
        for attempt in run.attempts:
            if attempt.truth is not None and attempt.truth.value is not None:
                # `detail` holds the flags of the measure, which the loop joined.
                kinds = {flag.partition(":")[0] for flag in attempt.truth.detail.split("; ")}
                found.update(kinds & _WORDS.keys())
    return [_sentence(found[kind], words) for kind, words in _WORDS.items() if found[kind]]


def _sentence(number: int, words: str) -> str:
    one = number == 1
    what = words.format(they="it" if one else "they", lie="lies" if one else "lie")
    return f"Truth of {counted(number, 'candidate')}: {what}."
