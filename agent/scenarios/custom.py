"""A list of instructions from the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from turngate.agent.scenario import Ideal, Step
from turngate.component import ComponentConfig

__all__ = ["Custom", "CustomConfig"]


class CustomConfig(ComponentConfig):
    """One instruction per turn."""

    instructions: list[Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]] = Field(min_length=1)
    """Instruction of turn 1, 2, ..."""
    cycle: bool = False
    """Start again after the last one; otherwise the run may have no more turns than instructions."""
    ideal: Literal["origin"] | None = None
    """`origin` when a perfect editor would return the origin at every turn; needed to measure truth by reference."""


class Custom:
    """Gives the instructions of a list, once or again and again."""

    Config: ClassVar[type[ComponentConfig]] = CustomConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: CustomConfig) -> None:
        self.config = config
        self.ideal: Ideal | None = config.ideal
        self.length: int | None = None if config.cycle else len(config.instructions)

    def instruction(self, turn: int) -> Step:
        """The instruction of a turn; raises `IndexError` past the end of a list that does not cycle."""
        if self.length is not None and turn > self.length:
            raise IndexError(f"the scenario has {self.length} instructions, turn {turn} was asked for")
        return Step(self.config.instructions[(turn - 1) % len(self.config.instructions)], {"kind": "instruction"})
