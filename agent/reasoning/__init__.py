"""Readers of reasoning summaries by name: what a model says about its work. Never an image, a score or a ledger."""

from turngate.agent.reasoning.reading import (
    LABELS,
    ClaimLabel,
    Finding,
    ObjectCount,
    ReaderResult,
    SummaryReader,
    SummaryReading,
    Unread,
)
from turngate.registry import Registry

__all__ = [
    "LABELS",
    "READERS",
    "ClaimLabel",
    "Finding",
    "ObjectCount",
    "ReaderResult",
    "SummaryReader",
    "SummaryReading",
    "Unread",
]

READERS: Registry[SummaryReader] = Registry(
    "summary reader",
    "turngate.summary_readers",
    {
        "lexicon": "turngate.agent.reasoning.lexicon:LexiconReader",
        "zero_shot": "turngate.agent.reasoning.zero_shot:ZeroShotReader",
    },
    protocol=SummaryReader,
)
