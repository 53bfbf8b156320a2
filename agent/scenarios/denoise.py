"""Ask for an exact copy without noise, turn after turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.scenario import Ideal, Step
from turngate.part import PartConfig

__all__ = ["Denoise", "DenoiseConfig"]

DENOISE_TEXT = (
    "Produce an exact replica of the provided image, with no alterations, "
    "except that noise, grain and colour casts are removed where there are any."
)
"""Our wording: the paper's is not known. It begins as the paper's replication prompt does."""


class DenoiseConfig(PartConfig):
    """No settings."""


class Denoise:
    """Asks for an exact replica without noise each turn; the ideal result is the origin, taken to be clean."""

    Config: ClassVar[type[PartConfig]] = DenoiseConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = "origin"
    length: int | None = None

    def __init__(self, config: DenoiseConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return Step(DENOISE_TEXT, {"kind": "denoise"})
