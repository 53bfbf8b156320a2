"""What the forms of a question share: which images are shown, what is asked, what the answers come to."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from turngate.errors import ConfigError
from turngate.evaluators.evaluator import Direction
from turngate.evaluators.result import Score, Unscored
from turngate.frozen import StrictModel
from turngate.registry import explain, nearest
from turngate.yaml_text import parse_yaml

__all__ = [
    "REASONS",
    "Criterion",
    "Form",
    "ReferenceImage",
    "ShownImage",
    "VerdictNames",
    "answer_shape",
    "check_name",
    "read_criterion",
]


ReferenceImage = Literal["origin", "first", "previous"]
"""An image to compare with: before turn 1, the first accepted one, or the one that was edited."""
ShownImage = Literal["origin", "first", "previous", "candidate"]


def _different(labels: tuple[str, str]) -> tuple[str, str]:
    if len({label.strip().casefold() for label in labels} - {""}) < 2:
        raise ValueError("labels are two different words")
    return labels


VerdictNames = Annotated[tuple[str, str], AfterValidator(_different)]
"""Names of the good and of the bad verdict."""

_ROLES: Mapping[ShownImage, str] = {
    "origin": "the reference: the picture before any edit",
    "first": "the reference: the picture after the first edit",
    "previous": "the reference: the picture that was edited",
    "candidate": "the candidate: what the editor made of it",
}


class Form(StrictModel, ABC, allow_inf_nan=False):
    """A kind of question with its settings. `form` names it in a configuration."""

    form: str
    preset: str | None = None
    """Preset that the settings were taken from; other fields replace its."""
    request: bool = True
    """Tell the judge what the editor was asked for. False for images that nobody asked for, a folder of photographs."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest value."""

    @property
    @abstractmethod
    def orders(self) -> tuple[tuple[ShownImage, ...], ...]:
        """One entry per call: the images in the order in which they are shown."""

    @property
    def better(self) -> Direction:
        """Which way is better."""
        return "higher"

    @abstractmethod
    def places(self) -> Mapping[str, str]:
        """Words for the prompt's places `criteria`, `question` and `answer`."""

    @abstractmethod
    def fields(self) -> Mapping[str, Any]:
        """Names in the answer, in the order in which they are asked for, and their types."""

    @abstractmethod
    def conclude(self, answers: Sequence[Mapping[str, Any]]) -> Score | Unscored:
        """The result of checked answers, one per entry of `orders`."""

    def legend(self, order: Sequence[ShownImage]) -> str:
        """What the images are, for the prompt."""
        return "\n".join(f"Image {number}: {_ROLES[role]}." for number, role in enumerate(order, start=1))


REASONS = '"a few sentences: what you see, where"'
"""What belongs under `reasoning`; it comes first, so that marks follow from reasons."""


def answer_shape(fields: Mapping[str, str]) -> str:
    """An answer as a judge is shown it: names and what belongs there."""
    return "{" + ", ".join(f'"{name}": {what}' for name, what in fields.items()) + "}"


_RESERVED = frozenset({"reasoning", "verdict", "better", "worst", "mean", "sum", "geometric"})
"""Names that mean something else in an answer or in a configuration."""


def check_name(name: str) -> str:
    """A name that can be a key of the answer; raises `ValueError` for any other."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise ValueError(f"{name!r} is no name: small letters, digits and _, starting with a letter")
    if name in _RESERVED:
        raise ValueError(f"{name!r} means something else here: take another name")
    return name


class Criterion(StrictModel, allow_inf_nan=False):
    """A question with a scale."""

    name: Annotated[str, AfterValidator(check_name)]
    """Key in the answer and among the score's components."""
    asks: str = Field(min_length=1, max_length=2000)
    """The question; say what the lowest and the highest mark mean."""
    low: float = 0.0
    """Lowest mark."""
    high: float = 10.0
    """Highest mark."""
    better: Literal["higher", "lower"] = "higher"
    """Which way is better."""
    whole: bool = False
    """Whole marks only."""

    @model_validator(mode="after")
    def _sound(self) -> Criterion:
        if not self.low < self.high:
            raise ValueError("low must be below high")
        return self


def read_criterion(raw: Any, where: str) -> Criterion:
    """A built-in criterion by its name, or one of the user's own; raises `ConfigError` that starts with `where`."""
    if isinstance(raw, str):
        if raw not in _built_in():
            raise ConfigError(f"{where}: no criterion is called {raw!r}{nearest(raw, sorted(_built_in()))}")
        raw = {"name": raw, **_built_in()[raw]}
    if isinstance(raw, Criterion):
        return raw
    try:
        return Criterion.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(explain(error, Criterion, where)) from None


@cache
def _built_in() -> dict[str, dict[str, Any]]:
    text = resources.files("turngate.evaluators.judges").joinpath("criteria.yaml").read_text("utf-8")
    found: dict[str, dict[str, Any]] = parse_yaml(text, "criteria.yaml")
    return found
