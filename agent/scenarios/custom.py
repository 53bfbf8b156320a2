"""A list of instructions from the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from turngate.agent.scenario import Exact, Ideal, Step
from turngate.component import Box, ComponentConfig
from turngate.frozen import StrictModel

__all__ = ["BoxedInstruction", "Custom", "CustomConfig"]

_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class BoxedInstruction(StrictModel):
    """An instruction that says where in the picture it means to change something."""

    text: _Text
    box: Box
    """The rest of the picture is to stay as it is (see `outside_edit`)."""


def _kind(raw: Any) -> str:
    return "boxed" if isinstance(raw, Mapping | BoxedInstruction) else "text"


# Told apart before they are checked: an error is then about the one that was meant.
_Instruction = Annotated[
    Annotated[_Text, Tag("text")] | Annotated[BoxedInstruction, Tag("boxed")], Discriminator(_kind)
]


class CustomConfig(ComponentConfig):
    """One instruction per turn."""

    instructions: list[_Instruction] = Field(min_length=1)
    """Instruction of turn 1, 2, ...: its text, or `{text, box}` where it is known where something changes."""
    cycle: bool = False
    """Start again after the last one; otherwise the run may have no more turns than instructions."""
    ideal: Literal["origin", "round_trip"] | None = None
    """Needed to measure truth by reference. `origin`: a perfect editor would return the origin at every turn.
    `round_trip`: odd turns change something (add an object), even turns take it back; then the origin is the ideal,
    and in between it is not known."""


class Custom:
    """Gives the instructions of a list, once or again and again."""

    Config: ClassVar[type[ComponentConfig]] = CustomConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: CustomConfig) -> None:
        self.config = config
        self.ideal: Ideal | None = "operations" if config.ideal == "round_trip" else config.ideal
        self.length: int | None = None if config.cycle else len(config.instructions)

    def instruction(self, turn: int) -> Step:
        """The instruction of a turn; raises `IndexError` past the end of a list that does not cycle."""
        if self.length is not None and turn > self.length:
            raise IndexError(f"the scenario has {self.length} instructions, turn {turn} was asked for")
        said = self.config.instructions[(turn - 1) % len(self.config.instructions)]
        exact: tuple[Exact, ...] = ()
        if self.config.ideal == "round_trip":
            exact = ("alter",) if turn % 2 else ("restore",)
        if isinstance(said, str):
            return Step(said, {"kind": "instruction"}, exact)
        return Step(said.text, {"kind": "instruction"}, exact, (said.box,))
