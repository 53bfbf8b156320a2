"""Numbers of objects that a summary states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from turngate.agent.reasoning.lexicon.data import Lexicon
from turngate.agent.reasoning.lexicon.scope import Scoped
from turngate.agent.reasoning.reading import ObjectCount

__all__ = ["Counter"]

_DIGITS = re.compile(r"\d{1,4}")
_WIDEST = 4
"""Words between a number and the end of its noun."""
_AFTER = 2
"""Words between a noun and `was added`."""


class Counter:
    """Reads the sentences of one summary in order."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._rules = lexicon.counting
        self._noun = ""
        """The noun that was counted last."""

    def read(self, found: Scoped) -> Iterator[ObjectCount]:
        """Counts of one sentence, of what is said in it; what was not added is no count."""
        words = found.words
        at, adding = 0, -1  # `adding`: index at which something that was added may begin
        while at < len(words):
            added = self._phrase("added", words, at)
            if added:
                at = adding = at + added
                continue
            if words[at] in self._rules.joined and at == adding:
                adding = at + 1
            counted = None if found.unsaid[at] else self._count(words, at, at == adding)
            if counted is None:
                at += 1
                continue
            count, end = counted
            if not (count.added and found.denied[at]):
                yield count
            at, adding = end, end if count.added else -1

    def _count(self, words: Sequence[str], at: int, adding: bool) -> tuple[ObjectCount, int] | None:
        """The count that begins at `at`, and the index after it; `adding`: what was added is named here."""
        if words[at] in self._rules.ordinals:
            return self._ordinal(words, at)
        number, start = self._number(words, at)
        return self._article(words, at, adding) if number is None else self._numeral(words, at, number, start, adding)

    def _ordinal(self, words: Sequence[str], at: int) -> tuple[ObjectCount, int] | None:
        """`A fourth apple`: there are four."""
        if not self._before("a_fourth", words, at):
            return None
        noun, end = self._group(words, at + 1, 1)
        alone = end == at + 1 and (end == len(words) or not words[end][0].isalnum())
        if not noun and alone and self._before("added", words, at - 1):
            return ObjectCount(self._rules.ordinals[words[at]], self._noun), end
        return self._counted(words, self._rules.ordinals[words[at]], noun or self._noun, False, end)

    def _article(self, words: Sequence[str], at: int, adding: bool) -> tuple[ObjectCount, int] | None:
        """`The apple was added`, `another apple`, `a new apple`: one was added."""
        start = at + (words[at] in self._rules.articles and words[at] not in self._rules.more)
        more = start < len(words) and words[start] in self._rules.more
        if (start == at and not more) or (start < len(words) and words[start] in self._rules.ordinals):
            return None
        noun, end = self._group(words, start + more, 1)
        if not (adding or more or self._was_added(words, end)):
            return None
        return self._counted(words, 1, noun, True, end)

    def _numeral(
        self, words: Sequence[str], at: int, number: int, start: int, adding: bool
    ) -> tuple[ObjectCount, int] | None:
        """`Two apples`, `two more apples`, `one apple more`, `a total of two`; the noun begins at `start`."""
        total = self._before("total", words, at)
        more = start < len(words) and words[start] in self._rules.more
        noun, end = self._group(words, start + more, number)
        if not noun:
            return self._counted(words, number, self._noun, False, start) if total else None
        beside = [words[at - 1]] * (at > 0) + list(words[end : end + 1])
        more = more or any(word in self._rules.more for word in beside)
        return self._counted(words, number, noun, not total and (adding or more or self._was_added(words, end)), end)

    def _counted(
        self, words: Sequence[str], number: int, noun: str, added: bool, end: int
    ) -> tuple[ObjectCount, int] | None:
        if not noun or number == 0 or (end < len(words) and words[end] in self._rules.fewer):
            return None
        self._noun = noun
        return ObjectCount(number, noun, added), end

    def _number(self, words: Sequence[str], at: int) -> tuple[int | None, int]:
        """A number in digits or words, and the index after it."""
        if _DIGITS.fullmatch(words[at]):
            return int(words[at]), at + 1
        total = None
        while at < len(words) and words[at] in self._rules.numbers:
            value = self._rules.numbers[words[at]]
            if total is None:
                total = value
            elif value == 100 and total < 100:
                total *= 100
            elif total % 10 == 0 and value < 10 <= total:
                total += value
            else:
                break
            at += 1
        return total, at

    def _group(self, words: Sequence[str], start: int, number: int) -> tuple[str, int]:
        """The noun of the group of words at `start`, in the singular, and the index after it; "" without one."""
        end = start
        while end < min(len(words), start + _WIDEST) and not self._stops(words[end]):
            end += 1
            singular = self._singular(words[end - 1])
            if number != 1 and singular is not None:
                return self._object(words, end - 1, singular), end
        if number != 1 or end == start or self._singular(words[end - 1]) not in (None, words[end - 1]):
            return "", start
        return self._object(words, end - 1, words[end - 1]), end

    def _object(self, words: Sequence[str], at: int, noun: str) -> str:
        if noun in self._rules.again:
            return self._noun
        match = self._lexicon.phrases.longest(words, at)
        damage = match is not None and match.role.startswith("damage")
        return "" if damage or noun in self._rules.not_objects else noun

    def _singular(self, word: str) -> str | None:
        """The singular of a plural; None for a word that is none."""
        if word in self._rules.plurals:
            return self._rules.plurals[word]
        if len(word) < 3 or word.endswith(tuple(self._rules.not_plural)):
            return None
        for ending, single in self._rules.plural_endings.items():
            if word.endswith(ending):
                return word.removesuffix(ending) + single
        return None

    def _stops(self, word: str) -> bool:
        return (
            not word[0].isalpha()
            or word in self._rules.stop
            or word in self._lexicon.finite
            or word in self._rules.numbers
            or word.endswith(tuple(self._rules.stop_endings))
        )

    def _was_added(self, words: Sequence[str], end: int) -> bool:
        return any(self._phrase("was_added", words, at) for at in range(end, min(end + _AFTER, len(words))))

    def _before(self, field: str, words: Sequence[str], at: int) -> bool:
        return any(start + self._phrase(field, words, start) == at for start in range(max(0, at - 3), at))

    def _phrase(self, field: str, words: Sequence[str], at: int) -> int:
        match = self._rules.phrases[field].longest(words[: at + 6], at)
        return match.end - match.start if match else 0
