"""Readers of reasoning summaries by name: what a model says about its work. Never an image, a score or a ledger."""

from turngate.agent.reasoning.reading import (
    LABELS,
    Count,
    Finding,
    Label,
    Reading,
    SummaryReader,
    SummaryReading,
    Unread,
)
from turngate.registry import Registry

__all__ = ["LABELS", "READERS", "Count", "Finding", "Label", "Reading", "SummaryReader", "SummaryReading", "Unread"]

_HERE = "turngate.agent.reasoning"

READERS: Registry[SummaryReader] = Registry(
    "summary reader",
    "turngate.summary_readers",
    {
        "lexicon": f"{_HERE}.lexicon:LexiconReader",
        "zero_shot": f"{_HERE}.zero_shot:ZeroShotReader",
    },
)
