"""What a rejection leads to: retry, and when the attempts are used up, one of eight endings of the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from turngate.agent.gate import Readings
from turngate.frozen import StrictModel

__all__ = ["Ending", "Masking", "Rejection", "Tried", "best_of"]

Ending = Literal["skip", "accept", "accept_masked", "keep_best", "rollback", "restart", "stop", "ask_human"]
"""How a turn ends whose attempts were all rejected.

- `skip`: the current image stays, the turn is spent.
- `accept`: the last candidate is taken anyway (forced accept, counted).
- `accept_masked`: of the last candidate only what differs clearly from the image it was made of (forced, counted).
- `keep_best`: the best candidate of the turn by one evaluator is taken anyway (forced accept, counted).
- `rollback`: the current image becomes an accepted ancestor.
- `restart`: the current image becomes the origin again.
- `stop`: the run ends with status `attempts_exhausted`.
- `ask_human`: the run waits for `turngate resume RUN --accept` or `--reject`.
"""


class Masking(StrictModel, allow_inf_nan=False):
    """What a masked accept takes of a candidate; see `turngate.graphs.masked_accept`. Lengths are in pixels."""

    threshold: float = Field(default=16.0, gt=0, lt=255)
    """Smallest smoothed difference in any channel with which a pixel counts as changed, in 8-bit levels."""
    smooth: float = Field(default=2.0, ge=0, le=100)
    """SD of the Gaussian that smooths the difference, so that noise does not count as change."""
    clean: int = Field(default=2, ge=0, le=100)
    """Radius of the disk that opens and closes the mask: thinner specks are dropped, thinner gaps are filled."""
    feather: float = Field(default=4.0, ge=0, le=100)
    """SD of the Gaussian that blends the border; 0 cuts hard."""


class Rejection(StrictModel):
    """Policy for rejected candidates."""

    attempts: int = Field(default=1, ge=1, le=1000)
    """Editor calls per turn at most. More than one is `retry`: each has its own seed."""
    then: Ending = "skip"
    """What happens when the last attempt is rejected as well."""
    best_by: str | None = None
    """Evaluator that ranks the candidates for `keep_best`."""
    rollback_turns: int = Field(default=1, ge=1)
    """How many accepted images `rollback` goes back; the origin is the oldest."""
    masking: Masking = Masking()
    """How `accept_masked` is done, whether a gate or this policy says so."""


@dataclass(frozen=True)
class Tried:
    """A candidate of the present turn."""

    attempt: int
    image: str
    """SHA-256 of the candidate."""
    readings: Readings


def best_of(tried: Sequence[Tried], evaluator: str) -> Tried | None:
    """The candidate that `evaluator` likes best; the earliest on a tie, None when it scored none of them."""
    scored = [candidate for candidate in tried if evaluator in candidate.readings]
    return max(scored, key=lambda candidate: candidate.readings[evaluator].oriented_score, default=None)
