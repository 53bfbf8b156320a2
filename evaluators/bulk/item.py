"""What is scored in bulk: images that are not opened yet, evaluators by name, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from turngate.evaluators import EVALUATORS, Evaluator, Facts
from turngate.evaluators.image_source import ImageSource
from turngate.evaluators.result import Result
from turngate.evaluators.score_key import Inputs, parameters_hash
from turngate.part import PartConfig

__all__ = ["IsOwed", "Item", "Named", "Scored", "Step"]


@dataclass(frozen=True)
class Item:
    """One image to score, and what it may be compared with."""

    id: str
    """Names it among all items."""
    candidate: ImageSource
    origin: ImageSource | None = None
    first: ImageSource | None = None
    previous: ImageSource | None = None
    history: tuple[ImageSource, ...] = ()
    instruction: str | None = None


@dataclass(frozen=True, eq=False)
class Named:
    """An evaluator, its settings, and what it is called."""

    name: str
    config: PartConfig
    evaluator: Evaluator

    @property
    def facts(self) -> Facts:
        """The evaluator's facts."""
        return self.evaluator.facts

    @cached_property
    def parameters(self) -> str:
        """SHA-256 of the settings."""
        return parameters_hash(self.config)

    @property
    def is_light(self) -> bool:
        """It needs neither packages beyond the core nor anything else: every thread may have one of its own."""
        part = type(self.evaluator)
        return not (getattr(part, "requires", True) or getattr(part, "needs", "") or hasattr(self.config, "members"))

    def another(self) -> Evaluator:
        """One more of the same."""
        return EVALUATORS.build(self.config)


@dataclass(frozen=True)
class Scored:
    """One result."""

    item: Item
    by: Named
    inputs: Inputs
    """What was shown, by hash; the candidate's is empty when its file could not be read."""
    result: Result
    started_ns: int
    ended_ns: int


@dataclass(frozen=True)
class Step:
    """Progress: new results, and how many images are done with."""

    scored: tuple[Scored, ...] = ()
    finished: int = 0
    """Images that are done with, those with nothing owed included."""
    idle: int = 0
    """Of those: nothing was owed."""


IsOwed = Callable[[Item, Named, Inputs], bool]
"""Whether a result is still wanted; may be called from several threads."""
