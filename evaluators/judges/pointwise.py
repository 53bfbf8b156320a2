"""Marks by criteria for one candidate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from turngate.errors import ConfigError
from turngate.evaluators.evaluator import Direction
from turngate.evaluators.judges.answer import mark, word
from turngate.evaluators.judges.form import (
    REASONS,
    Criterion,
    Form,
    ReferenceImage,
    ShownImage,
    VerdictNames,
    answer_shape,
    read_criterion,
)
from turngate.evaluators.result import Score

__all__ = ["Pointwise"]

_WAYS = ("worst", "mean", "sum", "geometric")


class Pointwise(Form):
    """The judge gives a mark per criterion; `value` says how they become one number."""

    form: Literal["pointwise"] = "pointwise"
    references: tuple[ReferenceImage, ...] = Field(default=("previous",), max_length=3)
    """Images shown before the candidate; may be empty."""
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=20)
    """Asked in this order: built-in names, or mappings with `name` and `asks`, perhaps `low`, `high`, `better`."""
    value: str = "worst"
    """`worst` mark, `mean`, `sum`, `geometric` (mean over the groups of each group's worst), or one criterion."""
    groups: tuple[tuple[str, ...], ...] = ()
    """For `geometric`: groups of criteria; each criterion by itself where left out."""
    weights: Mapping[str, float] = Field(default={})
    """For `mean`: weight of every criterion; equal where left out."""
    pass_at: float | None = None
    """Values at least this good get the first label."""
    fail_at: float | None = None
    """Values at least this bad get the second label."""
    labels: VerdictNames = ("pass", "fail")
    """Names of the two verdicts. With `pass_at` or `fail_at` the judge is asked for one too: a verdict that contradicts
    its own marks is flagged `inconsistent`."""

    @field_validator("criteria", mode="before")
    @classmethod
    def _criteria(cls, raw: Any) -> Any:
        items = raw if isinstance(raw, list | tuple) else [raw]
        return tuple(read_criterion(item, f"ask.criteria.{number}") for number, item in enumerate(items))

    @model_validator(mode="after")
    def _sound(self) -> Pointwise:
        for problem in (self._names(), self._scales(), self._rule()):
            if problem:
                raise ConfigError(f"ask.{problem}")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """The scale of `value`."""
        lows, highs = [one.low for one in self.criteria], [one.high for one in self.criteria]
        if self.value in self._by_name:
            return self._by_name[self.value].low, self._by_name[self.value].high
        return (sum(lows), sum(highs)) if self.value == "sum" else (min(lows), max(highs))

    @property
    def better(self) -> Direction:
        """The direction of `value`."""
        return self._by_name[self.value].better if self.value in self._by_name else self.criteria[0].better

    @property
    def orders(self) -> tuple[tuple[ShownImage, ...], ...]:
        """One call: references, then the candidate."""
        return ((*self.references, "candidate"),)

    def places(self) -> Mapping[str, str]:
        """The criteria with their scales, and the answer's shape."""
        shown = {one.name: f"{'whole number' if one.whole else 'number'} from {one.low:g} to {one.high:g}"
                 for one in self.criteria}  # fmt: skip
        if self._judged:
            good, bad = self.labels
            shown["verdict"] = f'"{good}" if the candidate may be kept, "{bad}" if not'
        criteria = "\n".join(f"- {one.name} ({one.low:g} to {one.high:g}): {one.asks}" for one in self.criteria)
        return {"criteria": criteria, "answer": answer_shape({"reasoning": REASONS, **shown})}

    def fields(self) -> Mapping[str, Any]:
        """A mark per criterion, and a verdict where there is a rule."""
        marks = {one.name: mark(one.low, one.high, one.whole) for one in self.criteria}
        return {"reasoning": str, **marks, **({"verdict": word(*self.labels)} if self._judged else {})}

    def conclude(self, answers: Sequence[Mapping[str, Any]]) -> Score:
        """The value of `value`; its parts are the marks, its label follows from the rule."""
        marks = {one.name: float(answers[0][one.name]) for one in self.criteria}
        low, high = self.bounds
        value = min(high, max(low, self._combine(marks)))  # rounding: the fifth root of 10^5 is a little above 10
        label = self._label(value)
        verdict = answers[0].get("verdict")
        flags = () if verdict == label else ("inconsistent", f"verdict:{verdict}")
        return Score(value, label, answers[0]["reasoning"], marks, flags)

    def _combine(self, marks: Mapping[str, float]) -> float:
        match self.value:
            case "worst":
                return self._worst(list(marks.values()))
            case "sum":
                return math.fsum(marks.values())
            case "mean":
                weights = {name: self.weights.get(name, 1.0) for name in marks}
                return math.fsum(marks[name] * weights[name] for name in marks) / math.fsum(weights.values())
            case "geometric":
                groups = self.groups or tuple((name,) for name in marks)
                worst = [self._worst([marks[name] for name in group]) for group in groups]
                return math.prod(worst) ** (1 / len(worst))
        return marks[self.value]

    def _worst(self, marks: list[float]) -> float:
        return min(marks) if self.better == "higher" else max(marks)

    def _label(self, value: float) -> str | None:
        sign = 1 if self.better == "higher" else -1
        if self.pass_at is not None:
            return self.labels[0 if sign * value >= sign * self.pass_at else 1]
        if self.fail_at is not None:
            return self.labels[1 if sign * value <= sign * self.fail_at else 0]
        return None

    @property
    def _judged(self) -> bool:
        return self.pass_at is not None or self.fail_at is not None

    @property
    def _by_name(self) -> dict[str, Criterion]:
        return {one.name: one for one in self.criteria}

    def _names(self) -> str | None:
        known = self._by_name
        if len(known) < len(self.criteria):
            return "criteria: two have the same name"
        if self.value not in (*_WAYS, *known):
            return f"value: one of {', '.join((*_WAYS, *known))}, not {self.value!r}"
        named = {name for group in self.groups for name in group} | set(self.weights)
        if named - set(known):
            return f"{'groups' if self.groups else 'weights'}: there is no criterion {min(named - set(known))!r} here"
        if self.groups and (self.value != "geometric" or not all(self.groups)):
            return "groups: they belong to `value: geometric`, and none may be empty"
        if self.weights and (
            self.value != "mean" or set(self.weights) != set(known) or min(self.weights.values()) <= 0
        ):
            return "weights: they belong to `value: mean`, one above 0 for every criterion"
        return None

    def _scales(self) -> str | None:
        if self.value in self._by_name or len(self.criteria) == 1:
            return None
        if len({one.better for one in self.criteria}) > 1:
            return f"value: `{self.value}` needs criteria that are better in the same direction"
        if self.value != "sum" and len({(one.low, one.high) for one in self.criteria}) > 1:
            return f"value: `{self.value}` needs criteria of the same scale"
        if self.value == "geometric" and (self.better == "lower" or min(one.low for one in self.criteria) < 0):
            return "value: `geometric` needs marks of 0 and above, where higher is better"
        return None

    def _rule(self) -> str | None:
        if self.pass_at is not None and self.fail_at is not None:
            return "pass_at: give it or fail_at, not both"
        low, high = self.bounds
        if not all(low <= at <= high for at in (self.pass_at, self.fail_at) if at is not None):
            return f"{'fail_at' if self.pass_at is None else 'pass_at'}: the value lies between {low:g} and {high:g}"
        return None
