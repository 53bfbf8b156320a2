"""Phrases of a lexicon, found in a list of words in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

__all__ = ["Match", "Phrases"]

_SHORTEST_PREFIX = 2
_WORD = re.compile(r"_|'?[^\W_]+|[^\W_]{2,}\*")


@dataclass(frozen=True)
class Match:
    """A phrase in a list of words."""

    role: str
    """What the lexicon says it is: `damage.noise`, `hedges`, ..."""
    start: int
    """Index of its first word."""
    end: int
    """Index after its last word."""


@dataclass
class _Node:
    exact: dict[str, _Node] = field(default_factory=dict)
    prefixes: dict[str, _Node] = field(default_factory=dict)
    any_word: _Node | None = None
    role: str | None = None


class Phrases:
    """Phrases by role.

    A phrase is words with single spaces; `a|b` is either word, `word*` any word that begins so (at least two letters),
    `(word)` a word that may be missing, `_` any word. At every place the longest phrase wins; among equally long ones
    a whole word goes before a beginning, a longer beginning before a shorter one.
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]]) -> None:
        """Raises `ValueError` for a malformed phrase and for one that has two roles."""
        self._root = _Node()
        for role, group in phrases.items():
            for phrase in group:
                for words in _expanded(phrase):
                    self._add(words, role, phrase)

    def find(self, words: Sequence[str]) -> list[Match]:
        """All phrases from left to right; a word belongs to one phrase at most."""
        found = []
        at = 0
        while at < len(words):
            match = self.longest(words, at)
            if match is None:
                at += 1
            else:
                found.append(match)
                at = match.end
        return found

    def longest(self, words: Sequence[str], at: int) -> Match | None:
        """The longest phrase that begins at `at`."""
        best: Match | None = None
        level = [self._root]
        for end in range(at, len(words)):
            # In order of precedence; there are at most a few, for few phrases begin alike.
            level = [after for node in level for after in _after(node, words[end])]
            if not level:
                break
            role = next((node.role for node in level if node.role is not None), None)
            if role is not None:
                best = Match(role, at, end + 1)
        return best

    def _add(self, words: Sequence[str], role: str, phrase: str) -> None:
        node = self._root
        for word in words:
            if word == "_":
                node.any_word = node.any_word or _Node()
                node = node.any_word
            elif word.endswith("*"):
                node = node.prefixes.setdefault(word[:-1], _Node())
            else:
                node = node.exact.setdefault(word, _Node())
        if node.role not in (None, role):
            raise ValueError(f"{phrase!r} is among {node.role} and among {role}: leave it in one of them")
        node.role = role


def _after(node: _Node, word: str) -> Iterator[_Node]:
    if word in node.exact:
        yield node.exact[word]
    for length in range(min(len(word), 30), _SHORTEST_PREFIX - 1, -1) if node.prefixes else ():
        if word[:length] in node.prefixes:
            yield node.prefixes[word[:length]]
    if node.any_word is not None and word[0].isalnum():
        yield node.any_word


def _expanded(phrase: str) -> Iterator[tuple[str, ...]]:
    """All phrases without `|` and brackets that `phrase` stands for."""
    choices = []
    for part in phrase.split(" "):
        optional = part.startswith("(") and part.endswith(")")
        words = part[1:-1].split("|") if optional else part.split("|")
        for word in words:
            if not _WORD.fullmatch(word):
                raise ValueError(f"{phrase!r} is no phrase: {part!r} is not a word, a|b, word*, (word) or _")
        choices.append([*words, ""] if optional else words)
    for choice in product(*choices):
        found = tuple(word for word in choice if word)
        if not found:
            raise ValueError(f"{phrase!r} is no phrase: one word must not be optional")
        yield found
