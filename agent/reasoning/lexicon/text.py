"""From a summary as it came (markup, lists, emojis, any script) to sentences of plain words, in linear time."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

__all__ = ["SYMBOL", "Match", "Phrases", "Sentence", "Splitter"]


SYMBOL = "¦"
"""Stands for a symbol that is no punctuation mark, an emoji for instance."""

_TAG = re.compile(r"<(br|/?p|/?li|/?div|/?tr|/?h[1-6])\b[^<>]{0,500}>", re.IGNORECASE)
_OTHER_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_HEADING = re.compile(r"(^|\n)[#> \t]{0,8}\*\*([^*\n]{1,300})\*\*:?(?=[ \t\n]|$)")
_MARKS = re.compile(r"[*_`#~]+")
_BULLET = re.compile(r"(^|\s)[-–•·▪‣◦](?=\s)")
_ENDS = re.compile(r"[.!?…。]{1,8}[\"'”’)\]]{0,4}(?=\s|$)|\n+")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*%?|[^\W\d_]+(?:'[^\W\d_]+)*|[.,;:!?()\"—–…/]|[^\w\s'-]")
_PUNCTUATION = frozenset('.,;:!?()"—–…/')
_LONGEST = 120
"""Words of a sentence; a longer one is cut into several."""


@dataclass(frozen=True)
class Sentence:
    """One sentence, heading or list item."""

    text: str
    """Without markup."""
    words: tuple[str, ...]
    """Small letters, contractions written out; punctuation marks are words of their own, `SYMBOL` stands for others."""

    @property
    def question(self) -> bool:
        """It ends with a question mark."""
        return self.text.rstrip("\"')”’").endswith("?")


class Splitter:
    """Splits texts of one language."""

    def __init__(
        self, contractions: Mapping[str, str], endings: Mapping[str, str], abbreviations: Sequence[str]
    ) -> None:
        """`contractions` are words, `endings` ends of words with what they are short for."""
        self._contractions = contractions
        self._endings = endings
        self._abbreviations = tuple(abbreviations)
        self._longest = max(map(len, abbreviations), default=0)

    def split(self, text: str) -> Iterator[Sentence]:
        """Sentences in order; those without a word are left out."""
        plain = _plain(text)
        start = 0
        for end in self._ends(plain):
            yield from self._cut(plain[start:end])
            start = end
        yield from self._cut(plain[start:])

    def _ends(self, text: str) -> Iterator[int]:
        for match in _ENDS.finditer(text):
            before = text[max(0, match.start() - self._longest) : match.end()].lower().rsplit(None, 1)
            if not (before and match.group() == "." and before[-1] in self._abbreviations):
                yield match.end()

    def _cut(self, text: str) -> Iterator[Sentence]:
        words = tuple(self._words(text))
        for start in range(0, len(words), _LONGEST):
            piece = words[start : start + _LONGEST]
            if any(word[0].isalnum() for word in piece):
                shown = " ".join(text.split()) if len(words) <= _LONGEST else " ".join(piece)
                yield Sentence(shown, piece)

    def _words(self, text: str) -> Iterator[str]:
        for match in _TOKEN.finditer(text.lower()):
            found = match.group()
            if not found[0].isalnum():
                yield found if found in _PUNCTUATION else SYMBOL
            elif "'" in found:
                yield from self._written_out(found)
            else:
                yield found

    def _written_out(self, word: str) -> Iterator[str]:
        if word in self._contractions:
            yield from self._contractions[word].split()
            return
        for ending, words in self._endings.items():
            if word.endswith(ending) and len(word) > len(ending):
                yield word.removesuffix(ending)
                yield from words.split()
                return
        yield from (part for part in word.split("'") if part)


def _plain(text: str) -> str:
    text = html.unescape(_OTHER_TAG.sub("", _TAG.sub("\n", text)))
    text = unicodedata.normalize("NFKC", text).replace("\r", "\n")
    text = re.sub("[‘’ʼ´]", "'", text)
    text = "".join(letter for letter in text if letter in "\n\t" or unicodedata.category(letter)[0] != "C")
    text = _HEADING.sub(r"\1\2\n", text)
    return _MARKS.sub(" ", _BULLET.sub("\n", text))


# Phrases of a lexicon, found in a list of words in linear time.

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
