"""Which words of a sentence are denied, asked for, planned or only possible.

After the idea of ConText (Harkema, Dowling, Thornblade and Chapman, J. Biomed. Inform. 42, 2009): trigger phrases with
a scope that runs forward or backward to the end of a clause. Rules and phrases are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from turngate.agent.reasoning.lexicon.data import Lexicon
from turngate.agent.reasoning.lexicon.text import SYMBOL, Match

__all__ = ["UNSAID", "Scoped", "ScopedPhrase", "clauses", "scoped"]


# Where the clauses of a sentence begin, and which of them leave a request or plan behind.

_HARD = frozenset(f";…{SYMBOL}")
_SOFT = frozenset(":()—–")
_ANSWERS = ("gone", "remove.done", "cleanse.done")
"""After a colon they are about what comes before it: `noise: none`."""
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


UNSAID = frozenset({"asked", "intent", "possible"})
"""A phrase in such a context is not said to be so."""

_NEAR = 6
"""Words after `any` and the like that are only possible."""
_SHORT = 5
"""Words, with the full stop, up to which a heading may have one."""
_NEXT = 3
"""Words after `managed to` in which the verb must come."""


@dataclass
class ScopedPhrase:
    """A phrase with what governs it."""

    role: str
    """Field of the lexicon."""
    kind: str
    """What follows the dot: kind of damage, form of a verb; else empty."""
    start: int
    end: int
    clause: int
    negations: frozenset[int]
    """Which denials reach it; each is a number of its own."""
    contexts: frozenset[str]
    """Of `asked`, `intent`, `possible`, `any`, `check`."""
    did: bool
    """A plain verb that was carried out."""
    passive: bool
    """What is before it is its object."""


@dataclass
class Scoped:
    """A sentence whose phrases are sorted."""

    words: Sequence[str]
    clauses: list[Clause]
    unsaid: list[bool]
    """Per word: it is asked for, planned or only possible."""
    denied: list[bool]
    """Per word: what happens there is denied."""
    items: list[ScopedPhrase] = field(default_factory=list)


@dataclass
class _State:
    contexts: set[str] = field(default_factory=set)
    negations: dict[int, bool] = field(default_factory=dict)
    """Number -> whether it ends at the next verb once it has denied something."""
    used: set[int] = field(default_factory=set)
    any_until: int = -1
    did_until: int = -1
    passive_at: int = -9

    def drop_used(self) -> None:
        """End the denials of nouns that have denied one."""
        self.negations = {n: ends for n, ends in self.negations.items() if not (ends and n in self.used)}


def scoped(words: Sequence[str], lexicon: Lexicon, question: bool) -> Scoped:
    """Sort the phrases of one sentence."""
    matches = lexicon.phrases.find(words)
    parts = clauses(words, matches, lexicon)
    if _heading(words, lexicon):
        return Scoped(words, parts, [True] * len(words), [False] * len(words))
    state, found = _State(), Scoped(words, parts, [False] * len(words), [False] * len(words))
    at_start = {match.start: match for match in matches}
    order = words[0] in lexicon.imperatives
    for index, clause in enumerate(parts):
        if clause.fresh:
            state.contexts.clear()
        if question:
            state.contexts.add("possible")
        if order and index == 0:
            state.contexts.add("intent")
        state.negations, state.used = {}, set()
        at = clause.start
        while at < clause.end:
            match = at_start.get(at)
            end = match.end if match else at + 1
            if not lexicon.finite_forms.isdisjoint(words[at:end]):
                state.drop_used()
            if match is not None:
                _take(match, index, state, found)
            elif words[at] == ",":
                state.contexts -= set() if question else {"possible"}
            if words[at] in lexicon.passive:
                state.passive_at = at
            found.unsaid[at:end] = [bool(state.contexts & UNSAID)] * (end - at)
            found.denied[at:end] = [not all(state.negations.values())] * (end - at)
            at = end
    _asked_before(found)
    _resumed(words, found, lexicon)
    return found


def _take(match: Match, clause: int, state: _State, found: Scoped) -> None:
    role, _, kind = match.role.partition(".")
    match role:
        case "nor":
            state.negations |= {} if state.negations else {match.start: True}
        case "without":  # `no noise, no blur`: the second begins anew
            state.drop_used()
            state.negations[match.start] = True
        case "negation":
            state.negations[match.start] = False
        case "asked" | "intent" | "possible" | "check":
            state.contexts.add(role)
        case "any_word":
            state.any_until = match.end + _NEAR
        case "did":
            state.did_until = match.end + _NEXT
    contexts = set(state.contexts)
    if match.start < state.any_until:
        contexts.add("any")
    if role in ("damage", "change", "clean"):
        state.used.update(state.negations)
    item = ScopedPhrase(
        role, kind, match.start, match.end, clause, frozenset(state.negations), frozenset(contexts),
        match.start < state.did_until, match.start - state.passive_at <= _NEXT + 1,
    )  # fmt: skip
    found.items.append(item)


def _asked_before(found: Scoped) -> None:
    """Carry `was requested` back over its clause."""
    for asking in found.items:
        if asking.role == "asked_before":
            start = found.clauses[asking.clause].start
            found.unsaid[start : asking.start] = [True] * (asking.start - start)
            for item in found.items:
                if item.clause == asking.clause and item.start < asking.start:
                    item.contexts |= {"asked"}


def _heading(words: Sequence[str], lexicon: Lexicon) -> bool:
    """`Removing the noise`, without a verb and an end."""
    if not words[0].endswith(tuple(lexicon.heading_endings)) or words[0] in lexicon.no_headings:
        return False
    ends = words[-1] in ".!" and len(words) > _SHORT
    return not ends and lexicon.finite_forms.isdisjoint(words)


def _resumed(words: Sequence[str], found: Scoped, lexicon: Lexicon) -> None:
    """`The noise, which I saw, is gone`: what follows the insertion belongs to what precedes it."""
    opens = {item.clause for item in found.items if item.role == "relative"}
    for index, clause in enumerate(found.clauses[2:], 2):
        verb = clause.start + 1
        if words[clause.start] == "," and words[verb] in lexicon.finite and index - 1 in opens:
            for item in found.items:
                if item.clause == index:
                    item.clause, item.contexts = index - 2, frozenset()
