"""From a summary as it came (markup, lists, emojis, any script) to sentences of plain words, in linear time."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Sentence", "sentences"]

_TAG = re.compile(r"<(br|/?p|/?li|/?div|/?tr|/?h[1-6])\b[^<>]{0,500}>", re.IGNORECASE)
_OTHER_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_HEADING = re.compile(r"(^|\n)[#> \t]{0,8}\*\*([^*\n]{1,300})\*\*:?(?=[ \t\n]|$)")
_MARKS = re.compile(r"[*_`#~]+")
_BULLET = re.compile(r"(^|\s)[-–•·▪‣◦](?=\s)")
_ENDS = re.compile(r"[.!?…。!?]{1,8}[\"'”’)\]]{0,4}(?=\s|$)|\n+")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*%?|[^\W\d_]+(?:'[^\W\d_]+)*|[.,;:!?()\"—–…/]|[^\w\s'-]")
_LONGEST = 120
"""Words of a sentence; a longer one is cut into several."""


@dataclass(frozen=True)
class Sentence:
    """One sentence, heading or list item."""

    text: str
    """Without markup."""
    words: tuple[str, ...]
    """Small letters, contractions written out; punctuation marks are words of their own, `¦` stands for any symbol."""

    @property
    def question(self) -> bool:
        """It ends with a question mark."""
        return self.text.endswith(("?", "?"))


def sentences(text: str, contractions: Mapping[str, str], abbreviations: Sequence[str]) -> Iterator[Sentence]:
    """Sentences in order; those without a word are left out."""
    plain = _plain(text)
    start = 0
    for end in _ends(plain, tuple(abbreviations)):
        yield from _cut(plain[start:end], contractions)
        start = end
    yield from _cut(plain[start:], contractions)


def _plain(text: str) -> str:
    text = html.unescape(_OTHER_TAG.sub("", _TAG.sub("\n", text)))
    text = unicodedata.normalize("NFKC", text).replace("\r", "\n")
    text = re.sub("[‘’ʼ´]", "'", text)
    text = "".join(letter for letter in text if letter in "\n\t" or unicodedata.category(letter)[0] != "C")
    text = _HEADING.sub(r"\1\2\n", text)
    return _MARKS.sub(" ", _BULLET.sub("\n", text))


def _ends(text: str, abbreviations: tuple[str, ...]) -> Iterator[int]:
    longest = max(map(len, abbreviations), default=0)
    for match in _ENDS.finditer(text):
        before = text[max(0, match.start() - longest - 1) : match.end()].lower().rsplit(None, 1)
        if not (before and match.group() == "." and before[-1] in abbreviations):
            yield match.end()


def _cut(text: str, contractions: Mapping[str, str]) -> Iterator[Sentence]:
    words = tuple(_words(text, contractions))
    for start in range(0, len(words), _LONGEST):
        piece = words[start : start + _LONGEST]
        if any(word[0].isalnum() for word in piece):
            shown = " ".join(text.split()) if len(words) <= _LONGEST else " ".join(piece)
            yield Sentence(shown, piece)


def _words(text: str, contractions: Mapping[str, str]) -> Iterator[str]:
    for match in _TOKEN.finditer(text.lower()):
        token = match.group()
        if not token[0].isalnum():
            yield token if token in '.,;:!?()"—–…/' else "¦"
        elif "'" in token:
            yield from _written_out(token, contractions)
        else:
            yield token


def _written_out(token: str, contractions: Mapping[str, str]) -> Iterator[str]:
    if token in contractions:
        yield from contractions[token].split()
        return
    for ending, words in contractions.items():
        if ending.startswith("'") or ending == "n't":
            if token.endswith(ending) and len(token) > len(ending):
                yield token.removesuffix(ending)
                yield from words.split()
                return
    yield from (part for part in token.split("'") if part)
