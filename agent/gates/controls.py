"""The two constant gates: controls that every study needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.gate import Decision, Past, Readings
from turngate.part import PartConfig

__all__ = ["AlwaysAccept", "AlwaysConfig", "AlwaysReject"]


class AlwaysConfig(PartConfig):
    """The constant gates take no settings."""


class AlwaysAccept:
    """Accepts every candidate: the loop without a gate."""

    Config: ClassVar[type[PartConfig]] = AlwaysConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = False

    def __init__(self, config: AlwaysConfig) -> None:
        self.config = config

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Accept."""
        return Decision("accept", "always accepts")


class AlwaysReject:
    """Rejects every candidate: with `keep_best` this is best-of-k selection, otherwise the loop stands still."""

    Config: ClassVar[type[PartConfig]] = AlwaysConfig
    requires: ClassVar[Mapping[str, str]] = {}
    reads: frozenset[str] = frozenset()
    reads_truth = False

    def __init__(self, config: AlwaysConfig) -> None:
        self.config = config

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Reject."""
        return Decision("reject", "always rejects")
