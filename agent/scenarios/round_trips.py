"""Mirror the image, turn after turn: every second turn should give the origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.scenario import Ideal, Step
from turngate.part import PartConfig

__all__ = ["MirrorTwice", "MirrorTwiceConfig"]

MIRROR_TEXT = "Mirror the provided image horizontally: left becomes right. Change nothing else."
"""Our wording: the paper's is not known."""


class MirrorTwiceConfig(PartConfig):
    """No settings."""


class MirrorTwice:
    """Swaps left and right each turn; two mirrors should give the origin, one its exact mirror image."""

    Config: ClassVar[type[PartConfig]] = MirrorTwiceConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = "operations"
    length: int | None = None

    def __init__(self, config: MirrorTwiceConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return Step(MIRROR_TEXT, {"kind": "mirror"}, ("mirror",))
