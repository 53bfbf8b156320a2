"""Rotate the image by a quarter, turn after turn: every fourth turn should give the origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.scenario import Ideal, Step
from turngate.part import PartConfig

__all__ = ["RotateFourTimes", "RotateFourTimesConfig"]

ROTATE_TEXT = "Rotate the provided image by 90 degrees clockwise. Change nothing else."
"""Our wording: the paper's is not known."""


class RotateFourTimesConfig(PartConfig):
    """No settings."""


class RotateFourTimes:
    """Rotates by 90 degrees clockwise each turn; four rotations should give the origin, fewer a rotated one."""

    Config: ClassVar[type[PartConfig]] = RotateFourTimesConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = "operations"
    length: int | None = None

    def __init__(self, config: RotateFourTimesConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return Step(ROTATE_TEXT, {"kind": "rotate"}, ("rotate",))
