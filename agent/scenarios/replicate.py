"""Ask for an exact copy, turn after turn: the paper's main scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from turngate.agent.scenario import Step
from turngate.part import PartConfig

__all__ = ["PROMPT", "Replicate", "ReplicateConfig"]

PROMPT = "Produce an exact replica of the provided image, with no alterations."
"""The replication prompt of Banana100 (arXiv 2604.03400), word for word."""


class ReplicateConfig(PartConfig):
    """Replication takes no settings."""


class Replicate:
    """Asks for an exact replica each turn, in the paper's words; the ideal result is the origin."""

    Config: ClassVar[type[PartConfig]] = ReplicateConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Literal["origin"] | None = "origin"
    length: int | None = None

    def __init__(self, config: ReplicateConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return Step(PROMPT, {"kind": "replicate"})
