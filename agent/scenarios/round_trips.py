"""Requests that undo themselves: mirror twice, rotate four times, take the colours away and ask for them back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.scenario import Ideal, Step
from turngate.component import ComponentConfig

__all__ = ["DecoloriseRecolorise", "MirrorTwice", "RotateFourTimes"]


MIRROR_TEXT = "Mirror the provided image horizontally: left becomes right. Change nothing else."
"""Our wording: the paper's is not known."""


class MirrorTwiceConfig(ComponentConfig):
    """No settings."""


class MirrorTwice:
    """Swaps left and right each turn; two mirrors should give the origin, one its exact mirror image."""

    Config: ClassVar[type[ComponentConfig]] = MirrorTwiceConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = "operations"
    length: int | None = None

    def __init__(self, config: MirrorTwiceConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return Step(MIRROR_TEXT, {"kind": "mirror"}, ("mirror",))


# Rotate the image by a quarter, turn after turn: every fourth turn should give the origin.

ROTATE_TEXT = "Rotate the provided image by 90 degrees clockwise. Change nothing else."
"""Our wording: the paper's is not known."""


class RotateFourTimesConfig(ComponentConfig):
    """No settings."""


class RotateFourTimes:
    """Rotates by 90 degrees clockwise each turn; four rotations should give the origin, fewer a rotated one."""

    Config: ClassVar[type[ComponentConfig]] = RotateFourTimesConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = "operations"
    length: int | None = None

    def __init__(self, config: RotateFourTimesConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return Step(ROTATE_TEXT, {"kind": "rotate"}, ("rotate",))


# Take the colours away and ask for them back, turn about.

TO_GRAY = "Convert the provided image to grayscale. Change nothing else."
"""Asked for at odd turns. Our wording: the paper's is not known."""

TO_COLOUR = "Give the provided image its original colours back. Change nothing else."
"""Asked for at even turns. Our wording."""


class DecoloriseRecoloriseConfig(ComponentConfig):
    """No settings."""


class DecoloriseRecolorise:
    """Grayscale at odd turns, the original colours at even ones; the ideals are the origin in gray and the origin."""

    Config: ClassVar[type[ComponentConfig]] = DecoloriseRecoloriseConfig
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
