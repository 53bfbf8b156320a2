"""Add a hundred different fruits, one each turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turngate.agent.scenario import Ideal, Step
from turngate.agent.scenarios._fruits import FRUITS
from turngate.agent.scenarios.adding import AddingConfig, addition
from turngate.part import PartConfig

__all__ = ["AddFruits"]


class AddFruits:
    """Adds another fruit each turn, 100 in all (the list is ours); there is no ideal image."""

    Config: ClassVar[type[PartConfig]] = AddingConfig
    requires: ClassVar[Mapping[str, str]] = {}
    ideal: Ideal | None = None
    length: int | None = len(FRUITS)

    def __init__(self, config: AddingConfig) -> None:
        self.config = config

    def instruction(self, turn: int) -> Step:
        """One fruit per turn; raises `IndexError` past the last one."""
        if turn > len(FRUITS):
            raise IndexError(f"the scenario has {len(FRUITS)} fruits, turn {turn} was asked for")
        return addition(FRUITS[turn - 1], self.config.place)
