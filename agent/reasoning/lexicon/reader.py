"""Reads reasoning summaries by a lexicon: phrases, what denies them, and what is only asked for or planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from turngate.agent.reasoning.lexicon.claims import Claims
from turngate.agent.reasoning.lexicon.counting import Counter
from turngate.agent.reasoning.lexicon.data import read_lexicon
from turngate.agent.reasoning.lexicon.scope import scoped
from turngate.agent.reasoning.lexicon.text import Sentence, Splitter
from turngate.agent.reasoning.reading import Finding, ObjectCount, ReaderResult, SummaryReading, Unread
from turngate.component import ComponentConfig

__all__ = ["LexiconConfig", "LexiconReader"]

_KNOWN = 0.2
"""Share of a text's words that must be in the lexicon, or common in its language, for it to be read."""


class LexiconConfig(ComponentConfig):
    """In which language the summaries are."""

    lexicon: str = Field(default="en", min_length=1)
    """Code of a built-in language, or a YAML file of one's own (docs/reasoning.md)."""


class LexiconReader:
    """Reads summaries by a lexicon: no model, no network, the same bytes give the same reading."""

    Config: ClassVar[type[ComponentConfig]] = LexiconConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: LexiconConfig) -> None:
        """Read the lexicon; raises `ConfigError` when there is none, or a field of it is wrong."""
        self.config = config
        self.lexicon = read_lexicon(config.lexicon)
        self._splitter = Splitter(self.lexicon.contractions, self.lexicon.endings, self.lexicon.abbreviations)

    def read(self, texts: Sequence[str | None]) -> list[ReaderResult]:
        """One reading per text; time grows with the length of the text, not faster."""
        return [self._read(text or "") for text in texts]

    def _read(self, text: str) -> ReaderResult:
        parts = list(self._splitter.split(text))
        if not parts:
            return Unread("empty", "no words")
        claims, counter = Claims(self.lexicon), Counter(self.lexicon)
        findings: list[Finding] = []
        counts: dict[ObjectCount, None] = {}
        for sentence in parts:
            found = scoped(sentence.words, self.lexicon, sentence.question)
            findings += claims.read(sentence, found)
            counts |= dict.fromkeys(counter.read(found))
        if not findings and self._foreign(parts):
            return Unread("language", f"not in {self.lexicon.language}")
        return SummaryReading.of(findings, list(counts))

    def _foreign(self, parts: Sequence[Sentence]) -> bool:
        """Too few words are of the lexicon's language."""
        familiar = {*self.lexicon.common, *self.lexicon.finite, *self.lexicon.counting.numbers}
        words = known = 0
        for sentence in parts:
            inside = {at for m in self.lexicon.phrases.find(sentence.words) for at in range(m.start, m.end)}
            for at, word in enumerate(sentence.words):
                words += word[0].isalpha()
                known += at in inside or word in familiar
        return not words or known < _KNOWN * words
