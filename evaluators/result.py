"""What an evaluation gives: a score, or a typed reason why there is none. Never 0 for a failure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from turngate.errors import Fault
from turngate.evaluators.usage import Usage

__all__ = ["Failed", "Result", "Score", "Skipped", "Unscored", "UnscoredWhy", "finite"]

UnscoredWhy = Literal[
    "parse", "truncated", "filtered", "refused", "disagreement", "too_small", "flat", "no_reference", "no_image",
    "undefined",
]  # fmt: skip
"""Why an evaluator declined: the evaluation itself worked, and there is no score to give."""


@dataclass(frozen=True)
class Score:
    """A finite number in the evaluator's own unit and direction."""

    value: float
    """Finite; raises `ValueError` otherwise (and for a bool, which is a verdict, not a score)."""
    label: str | None = None
    """Optional verdict in words ("pass", "degraded")."""
    explanation: str | None = None
    """Optional reasoning, a judge's for instance."""
    components: Mapping[str, float] = field(default_factory=dict)
    """Optional named parts that the value is made of, each finite."""
    flags: tuple[str, ...] = ()
    """Optional remarks that do not void the value ("inconsistent", "aligned:-1.2,0.4")."""
    usage: Usage | None = None
    """What was used up at a model, where one was asked."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite(self.value))
        object.__setattr__(self, "components", {name: finite(part) for name, part in self.components.items()})


@dataclass(frozen=True)
class Unscored:
    """No score, for a reason that lies in the image or in the answer."""

    why: UnscoredWhy
    detail: str = ""
    """One line for a person."""
    flags: tuple[str, ...] = ()
    """Optional remarks, as in a score."""
    usage: Usage | None = None
    """What was used up at a model: an answer that gives no score costs the same."""


@dataclass(frozen=True)
class Failed:
    """The evaluator broke, or gave something that is not a score."""

    fault: Fault
    error: str
    """Short type of the failure: an exception's name, `range`, `not_finite`, `not_a_number`."""
    detail: str = ""
    flags: tuple[str, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True)
class Skipped:
    """The evaluator was not asked (no candidate to look at)."""

    why: str = "no_image"


Result = Score | Unscored | Failed | Skipped


def finite(value: Any) -> float:
    """Turn an int, float or numpy/torch scalar into a finite Python float; raise `ValueError` otherwise."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise ValueError(f"a score must be a number, not the truth value {value}")
    if getattr(value, "size", 1) != 1 and not callable(getattr(value, "size", None)):
        raise ValueError("a score must be one number, not an array")
    if hasattr(value, "item"):
        value = value.item()
        if isinstance(value, bool):
            raise ValueError(f"a score must be a number, not the truth value {value}")
    if not isinstance(value, int | float):
        raise ValueError(f"a score must be a number, not {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("a score must fit a 64-bit float") from None
    if not math.isfinite(number):
        raise ValueError(f"a score must be finite, not {number}")
    return number
