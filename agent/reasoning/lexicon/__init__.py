"""A reader of reasoning summaries that looks words up in a lexicon."""

from turngate.agent.reasoning.lexicon.reader import LexiconConfig, LexiconReader
from turngate.agent.reasoning.lexicon.text import Match, Phrases, Splitter

__all__ = [
    "LexiconConfig",
    "LexiconReader",
    "Match",
    "Phrases",
    "Splitter",
]
