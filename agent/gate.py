"""The Gate contract: readings and the past in, one decision with its reason out. A gate never sees pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal, Protocol, runtime_checkable

from pydantic import Field

from turngate.component import ComponentConfig

__all__ = ["Accepted", "CalibratedConfig", "Decision", "Gate", "Past", "Reading", "Readings", "Verdict"]

_LARGEST = 1e100

Verdict = Literal["accept", "reject", "accept_masked"]
"""`accept_masked`: take only those pixels of the candidate that differ clearly from the image it was made of."""


@dataclass(frozen=True)
class Reading:
    """One evaluator's score, with the direction that makes it comparable."""

    evaluator: str
    """Name in the run's configuration."""
    value: float
    """Finite, in the evaluator's own unit."""
    direction: Literal["higher", "lower"]
    """Which way is better."""
    label: str | None = None
    """A judge's verdict in words, where it gave one."""

    @property
    def oriented_score(self) -> float:
        """The value in better units: larger is always better. Clipped to +-1e100, so sums and squares stay finite."""
        return min(max(self.value if self.direction == "higher" else -self.value, -_LARGEST), _LARGEST)


Readings = Mapping[str, Reading]
"""Evaluator name -> reading."""


@dataclass(frozen=True)
class Accepted:
    """An accepted image of the present lineage."""

    turn: int
    readings: Readings


@dataclass(frozen=True)
class Past:
    """What a gate may know beside the scores of the candidate.

    Readings of an image lack the evaluators that gave it no score, so ask with `.get(name)` or `name in`.
    """

    turn: int
    """1-based turn being decided."""
    attempt: int
    """1-based attempt within the turn."""
    seed: int
    """For gates that draw at random: differs per turn and attempt, the same in every arm of a study."""
    origin: Readings = field(default_factory=dict)
    """Scores of the origin (turn 0): the image before any edit, the same throughout a run."""
    accepted: Sequence[Accepted] = ()
    """Accepted images of the present lineage, oldest first; a rollback or restart shortens it."""
    damaged: bool | None = None
    """Truth, for gates that declare `reads_truth` only; None when it is not known."""

    @property
    def first(self) -> Readings:
        """Scores of the first accepted image of the present lineage; empty before there is one.

        After a restart the next accepted image is the first. What no edit has touched yet is `origin`.
        """
        return self.accepted[0].readings if self.accepted else {}

    @property
    def previous(self) -> Readings:
        """Scores of the current image: the last accepted one of the lineage, or the origin before there is one."""
        return self.accepted[-1].readings if self.accepted else self.origin


@dataclass(frozen=True)
class Decision:
    """Accept or reject, and why."""

    verdict: Verdict
    reason: str
    """One line for a person."""
    evidence: Mapping[str, float | str | None] = field(default_factory=dict)
    """The numbers that decided: the value, what it was held against, the margin."""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """Evaluator -> the worst value that would still have been accepted as far as this evaluator decides, finite, in
    its unit; only evaluators that were held against a value of their own."""

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.verdict)}</b>: {escape(self.reason)}"


@runtime_checkable
class Gate(Protocol):
    """Turns scores and history into a decision.

    `decide` is called only when every evaluator in `reads` has given a score: what happens otherwise is the run's
    `on_unscored` policy, not the gate's business.

    A gate may also have `misfit(facts)`: given the facts of the run's evaluators by name, it says in one line, starting
    with the field of its configuration that is wrong, why it cannot work with them, or gives None.
    """

    reads: frozenset[str]
    """Names of the evaluators it needs; a missing one is an error before the first editor call."""
    reads_truth: bool
    """True for the oracle only: it may see whether the candidate is damaged."""

    def decide(self, scores: Readings, past: Past) -> Decision:
        """Decide on one candidate. Must not keep state: everything it may use is in the arguments."""
        ...


class CalibratedConfig(ComponentConfig):
    """Configuration of a gate with a limit that may come from `turngate calibrate`."""

    calibrated_on: list[str] | None = Field(default=None, max_length=10_000)
    """Pixel identities (`Picture.pixel_identity`) of the origins that the limit was found on; None: not said.

    The gate decides the same with and without it. It is recorded, so that an answer can say when a gate was judged on
    the photographs that it was calibrated on.
    """
