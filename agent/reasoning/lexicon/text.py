"""From a summary as it came (markup, lists, emojis, any script) to sentences of plain words, in linear time."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["SYMBOL", "Sentence", "Splitter"]

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
