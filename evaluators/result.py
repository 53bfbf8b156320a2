"""What an evaluation gives: a score, or a typed reason why there is none; also as JSON. Never 0 for a failure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeVar

from turngate.errors import Fault

__all__ = [
    "DIGITS",
    "IDENTICAL",
    "EvaluationUsage",
    "Failed",
    "Result",
    "Score",
    "Skipped",
    "Unscored",
    "UnscoredWhy",
    "finite",
    "mean_score",
    "result_from_json",
    "result_to_json",
    "why",
]


# What an evaluation used up at a model.

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class EvaluationUsage:
    """Tokens and money of one evaluation, all its calls together; None where that is not known.

    An editor's is another: `turngate.agent.editor.EvaluationUsage`, of one call, with its thoughts counted apart.
    """

    calls: int = 0
    """Answers that came back."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    """Thoughts included."""
    cost_usd: float | None = None
    waited_seconds: float = 0.0
    """Time spent waiting on a limit, not working."""

    def __add__(self, other: EvaluationUsage) -> EvaluationUsage:
        """Both together. What one of them does not know the sum does not know either, unless it never got an answer."""
        if not self.calls or not other.calls:
            called, idle = (self, other) if self.calls else (other, self)
            return replace(called, waited_seconds=called.waited_seconds + idle.waited_seconds)
        return EvaluationUsage(
            self.calls + other.calls,
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cost_usd, other.cost_usd),
            self.waited_seconds + other.waited_seconds,
        )


def _sum(one: N | None, other: N | None) -> N | None:
    return None if one is None or other is None else one + other


UnscoredWhy = Literal[
    "parse", "truncated", "filtered", "refused", "disagreement", "too_small", "flat", "no_reference", "no_image",
    "undefined",
]  # fmt: skip
"""Why an evaluator declined: the evaluation itself worked, and there is no score to give."""

DIGITS = 6
"""Decimals of what our own metrics record: below these lies what another processor rounds in another way."""


IDENTICAL = "identical"
"""Flag of a value that compares an image with itself: every pixel equal before anything was aligned. It is the end of
the scale and no measurement, so averages leave it out."""


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
    usage: EvaluationUsage | None = None
    """What was used up at a model, where one was asked."""
    answers: tuple[str, ...] = ()
    """What the model said, answer by answer, as it came."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite(self.value))
        object.__setattr__(self, "components", {name: finite(part) for name, part in self.components.items()})

    def rounded(self) -> Score:
        """The same with value and components rounded to `DIGITS` decimals, and no "-0.0"."""
        components = {name: round(part, DIGITS) + 0.0 for name, part in self.components.items()}
        return replace(self, value=round(self.value, DIGITS) + 0.0, components=components)


@dataclass(frozen=True)
class Unscored:
    """No score, for a reason that lies in the image or in the answer."""

    why: UnscoredWhy
    detail: str = ""
    """One line for a person."""
    flags: tuple[str, ...] = ()
    """Optional remarks, as in a score."""
    usage: EvaluationUsage | None = None
    """What was used up at a model: an answer that gives no score costs the same."""
    components: Mapping[str, float] = field(default_factory=dict)
    """Optional named parts of what was answered, each finite."""
    answers: tuple[str, ...] = ()
    """What the model said, answer by answer, as it came."""


@dataclass(frozen=True)
class Failed:
    """The evaluator broke, or gave something that is not a score."""

    fault: Fault
    error: str
    """Short type of the failure: an exception's name, `range`, `not_finite`, `not_a_number`."""
    detail: str = ""
    flags: tuple[str, ...] = ()
    usage: EvaluationUsage | None = None
    answers: tuple[str, ...] = ()
    """What the model said, answer by answer, as it came."""


@dataclass(frozen=True)
class Skipped:
    """The evaluator was not asked (no candidate to look at)."""

    why: str = "no_image"


Result = Score | Unscored | Failed | Skipped


def mean_score(values: Collection[float]) -> float:
    """Arithmetic mean of one or more finite scores of one unit, rounded once; never outside their own range."""
    return max(min(values), min(math.fsum(values) / len(values), max(values)))


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


# Evaluation results as plain JSON, for rows, stored calls and the score cache.


def result_to_json(result: Result) -> dict[str, Any]:
    """Fields of a score row."""
    match result:
        case Score():
            return {
                "status": "scored",
                "value": result.value,
                "label": result.label,
                "explanation": result.explanation,
                "components": dict(result.components),
                **_recorded_fields(result),
            }
        case Unscored():
            declined = {"status": "unscored", "why": result.why, "detail": result.detail}
            return {**declined, "components": dict(result.components), **_recorded_fields(result)}
        case Failed():
            failed = {"status": "failed", "why": result.error, "fault": result.fault, "detail": result.detail}
            return {**failed, **_recorded_fields(result)}
        case Skipped():
            return {"status": "skipped", "why": result.why}


def result_from_json(answer: dict[str, Any]) -> Result:
    """The result that `result_to_json` took apart."""
    match answer["status"]:
        case "scored":
            known = {name: answer[name] for name in ("value", "label", "explanation", "components")}
            return Score(**known, **_read_fields(answer))
        case "unscored":
            parts = answer.get("components") or {}
            return Unscored(answer["why"], answer["detail"], components=parts, **_read_fields(answer))
        case "failed":
            return Failed(answer["fault"], answer["why"], answer["detail"], **_read_fields(answer))
        case _:
            return Skipped(answer["why"])


def _recorded_fields(result: Score | Unscored | Failed) -> dict[str, Any]:
    usage = asdict(result.usage) if result.usage else {}
    return {"flags": list(result.flags), "usage": usage, "answers": list(result.answers)}


def _read_fields(answer: dict[str, Any]) -> dict[str, Any]:
    usage = answer.get("usage")
    return {
        "flags": tuple(answer.get("flags", ())),
        "usage": EvaluationUsage(**usage) if usage else None,
        "answers": tuple(answer.get("answers", ())),
    }


def why(result: Result) -> str:
    """Why there is no score, in one line."""
    match result:
        case Unscored():
            return f"unscored: {result.why}"
        case Failed():
            return f"failed: {result.error} {result.detail}".strip()
        case _:
            return ""
