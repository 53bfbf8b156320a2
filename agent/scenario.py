"""The Scenario contract: the instruction of each turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

__all__ = ["Scenario", "Step"]


@dataclass(frozen=True)
class Step:
    """What one turn asks for."""

    text: str
    """Instruction as the editor gets it."""
    operation: Mapping[str, Any] = field(default_factory=dict)
    """The same in machine terms, for editors that do not read (simulators); plain JSON."""


@runtime_checkable
class Scenario(Protocol):
    """Gives the instruction of each turn."""

    ideal: Literal["origin"] | None
    """What a perfect editor's image equals after every turn, where that is known."""
    length: int | None
    """Number of turns it has instructions for; None when it never runs out."""

    def instruction(self, turn: int) -> Step:
        """The step of a 1-based turn; depends on nothing else."""
        ...
