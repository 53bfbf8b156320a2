"""The Evaluator contract: facts that are known before it runs, samples in, typed results out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from turngate.component import Box, Direction
from turngate.evaluators.result import Result
from turngate.picture import Picture

__all__ = ["Direction", "EvalInput", "Evaluator", "EvaluatorInput", "Facts", "FactsOnly"]

EvaluatorInput = Literal["candidate", "origin", "first", "previous", "history", "instruction", "edit_boxes"]
"""What an evaluator is given: `first` is the first accepted image, `previous` the image that was edited, `edit_boxes`
where the instructions that led to the candidate meant to change something."""


@dataclass(frozen=True)
class Facts:
    """What is known about an evaluator without running it. They are recorded with every run."""

    name: str
    """Registry name, for instance `brisque` or `pyiqa:musiq`."""
    version: str
    """Changes whenever the same image may get another value; part of every cache key."""
    direction: Direction
    """Which way is better. Gates compare in better units, so a negative BRISQUE is no special case."""
    range: tuple[float, float]
    """Lowest and highest value, in the evaluator's unit; may be infinite."""
    range_is_approximate: bool = False
    """True when values outside `range` occur in practice and are accepted; otherwise they are `Failed("range")`."""
    deterministic: bool = True
    """The same sample always gives the same value on one machine."""
    batch_invariant: bool = True
    """A sample's value does not depend on what else is in the batch, within `tolerance`."""
    tolerance: float = 1e-6
    """Largest difference that repetition and batching may make."""
    inputs: frozenset[EvaluatorInput] = frozenset({"candidate"})
    """What each sample must carry."""
    min_size: int = 1
    """Smaller images (shortest side, pixels) are `Unscored("too_small")`."""
    preferred_size: int | None = None
    """Shortest side, in pixels, that it was made for; None when any size is as good."""
    paid: bool = False
    """A call costs money: its answers are kept and never asked twice."""
    weights: str = "none"
    """Where parameters come from, with their hash where they are shipped."""
    weights_licence: str = "none"
    """Licence of the parameters."""
    source: str = ""
    """Paper, equation or implementation that defines the value."""
    size_scored: str = "native"
    """How the image is resized before it is scored."""
    judge: bool = False
    """Its value is a verdict, not a measurement: as a truth it needs no reference."""
    looks_at_the_rest: bool = False
    """It looks at what no instruction means to change: as a truth it is held against the origin itself, whatever the
    scenario's ideal is, and so needs none."""


@dataclass(frozen=True)
class EvalInput:
    """One thing to score: the candidate and whatever else the evaluator declared that it needs."""

    candidate: Picture
    origin: Picture | None = None
    first: Picture | None = None
    previous: Picture | None = None
    history: tuple[Picture, ...] = ()
    """Accepted images of the present lineage, oldest first, the origin not included."""
    instruction: str | None = None
    edit_boxes: tuple[Box, ...] | None = None
    """Where the accepted turns and this one meant to change something; None where the scenario does not say."""


@dataclass(frozen=True)
class FactsOnly:
    """An evaluator that was not built: its facts are what a run is checked by."""

    facts: Facts


@runtime_checkable
class Evaluator(Protocol):
    """Gives one result per sample. It knows nothing of turns, gates or ledgers.

    Call it through `turngate.evaluators.scoring.score`, which turns exceptions and values out of range into
    `Failed` results and refuses samples that lack what the facts say is needed.
    """

    facts: Facts

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score a batch; the answer has one result per sample, in order."""
        ...
