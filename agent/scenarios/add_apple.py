"""Add one apple, turn after turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.scenario import Ideal, Step
from turngate.agent.scenarios.adding import AddingConfig, addition
from turngate.part import PartConfig

__all__ = ["AddApple"]


class AddApple:
    """Adds one apple each turn; where a perfect editor would put it is not known, so there is no ideal image."""

    Config: ClassVar[type[PartConfig]] = AddingConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = None
    length: int | None = None

    def __init__(self, config: AddingConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """The same step every turn."""
        return addition("apple", self.config.place)
