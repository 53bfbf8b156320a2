"""The Scenario contract: the instruction of each turn, and what a perfect editor would make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from turngate.agent.ideal import EXACT, Exact
from turngate.errors import ConfigError
from turngate.registry import nearest

__all__ = ["Ideal", "Scenario", "Step"]

Ideal = Literal["origin", "operations"]
"""What a perfect editor's image equals: the origin after every turn, or the origin after the exact operations of the
accepted turns (`Step.exact`). A skipped turn's are not among them: the next turn starts from the image before."""


@dataclass(frozen=True)
class Step:
    """What one turn asks for."""

    text: str
    """Instruction as the editor gets it."""
    operation: Mapping[str, Any] = field(default_factory=dict)
    """The same in machine terms, for editors that do not read (simulators); plain JSON."""
    exact: tuple[Exact, ...] = ()
    """What a perfect editor does to the image it is given, in operations that can be computed; () leaves it as it is.
    Read only where the scenario's ideal is known. Others than those of `Exact` raise `ConfigError`."""

    def __post_init__(self) -> None:
        for name in self.exact:
            if name not in EXACT:
                raise ConfigError(f"scenario: no exact operation is called {name!r}{nearest(name, list(EXACT))}")


@runtime_checkable
class Scenario(Protocol):
    """Gives the instruction of each turn."""

    ideal: Ideal | None
    """What a perfect editor's image equals; None where that is not known, so that no truth can be measured by it."""
    length: int | None
    """Number of turns it has instructions for; None when it never runs out."""

    def instruction(self, turn: int) -> Step:
        """The step of a 1-based turn; depends on nothing else."""
        ...
