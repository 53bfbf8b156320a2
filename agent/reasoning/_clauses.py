"""Where the clauses of a sentence begin, and which of them leave a request or plan behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turngate.agent.reasoning._phrases import Match
from turngate.agent.reasoning.lexicon.data import Lexicon
from turngate.agent.reasoning.lexicon.text import SYMBOL

__all__ = ["Clause", "clauses"]

_HARD = frozenset(f";…{SYMBOL}")
_SOFT = frozenset(":()—–")
_ANSWERS = ("gone", "remove.done", "cleanse.done")
"""After a colon they are about what stands before it: `noise: none`."""
_NOUN_AND_VERB = 4
"""Words in which a subject without an article must have come to its verb."""
_SUBJECT_AND_VERB = 12
"""The same with one."""


@dataclass(frozen=True)
class Clause:
    """A stretch of words with at most one subject and verb, roughly."""

    start: int
    end: int
    """Index after its last word."""
    fresh: bool
    """What was asked for, planned or possible in the clause before ends here."""


def clauses(words: Sequence[str], matches: Sequence[Match], lexicon: Lexicon) -> list[Clause]:
    """Clauses in order; together they are the sentence."""
    starts = dict(_starts(words, matches, lexicon))
    starts[0] = True
    order = sorted(starts)
    return [
        Clause(start, end, starts[start] or _own_subject(words, start, lexicon))
        for start, end in zip(order, [*order[1:], len(words)], strict=True)
    ]


def _starts(words: Sequence[str], matches: Sequence[Match], lexicon: Lexicon) -> Iterator[tuple[int, bool]]:
    """(index, whether a contrast or a hard mark begins there); a later one for the same index wins."""
    inside = {at for match in matches for at in range(match.start, match.end)}
    answers = {match.start for match in matches if match.role in _ANSWERS}
    for at, word in enumerate(words):
        if word in _HARD or (word in _SOFT and at + 1 not in answers):
            yield at, word in _HARD
        elif at not in inside and (word == "," or word in lexicon.linking) and _new_clause(words, at, lexicon):
            yield at, False
    for match in matches:
        if match.role in ("contrast", "exception", "joining", "relative"):
            goes_on = match.end < len(words) and words[match.end] in lexicon.imperatives
            yield match.start, match.role == "contrast" and not goes_on


def _new_clause(words: Sequence[str], at: int, lexicon: Lexicon) -> bool:
    """Whether the comma or `and` at this place joins clauses, and not the items of a list."""
    after = at + 1
    while after < len(words) and words[after] in lexicon.linking:
        after += 1
    if after == len(words) or words[after] in lexicon.alternative:
        return False
    first = words[after]
    if first in lexicon.finite or (first in lexicon.subjects and first not in lexicon.determiners):
        return True
    reach = _SUBJECT_AND_VERB if first in lexicon.determiners else _NOUN_AND_VERB
    for word in words[after + 1 : after + reach]:
        if word in lexicon.finite:
            return True
        if not word[0].isalnum() or word in lexicon.linking or word in lexicon.alternative:
            return False
    return False


def _own_subject(words: Sequence[str], start: int, lexicon: Lexicon) -> bool:
    """Whether the clause at `start` is about what the writer did or got, whatever joins it to the one before."""
    for at in range(start, min(start + 4, len(words))):
        if lexicon.owners.longest(words, at) is not None:
            return True
        if words[at][0].isalnum() and words[at] not in lexicon.joiners:
            return False
    return False
