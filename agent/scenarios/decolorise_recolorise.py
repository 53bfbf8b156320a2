"""Take the colours away and ask for them back, turn about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.scenario import Ideal, Step
from turngate.part import PartConfig

__all__ = ["DecoloriseRecolorise", "DecoloriseRecoloriseConfig"]

TO_GRAY = "Convert the provided image to grayscale. Change nothing else."
"""Asked for at odd turns. Our wording: the paper's is not known."""

TO_COLOUR = "Give the provided image its original colours back. Change nothing else."
"""Asked for at even turns. Our wording."""


class DecoloriseRecoloriseConfig(PartConfig):
    """No settings."""


class DecoloriseRecolorise:
    """Grayscale at odd turns, the original colours at even ones; the ideals are the origin in gray and the origin."""

    Config: ClassVar[type[PartConfig]] = DecoloriseRecoloriseConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = "operations"
    length: int | None = None

    def __init__(self, config: DecoloriseRecoloriseConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """Grayscale at odd turns, colours at even ones, also when the turn before was skipped."""
        if turn % 2:
            return Step(TO_GRAY, {"kind": "grayscale"}, ("grayscale",))
        return Step(TO_COLOUR, {"kind": "recolorise"}, ("recolorise",))
