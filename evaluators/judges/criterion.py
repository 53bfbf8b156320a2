"""One thing that a judge gives marks for."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from turngate.errors import ConfigError
from turngate.registry import explain, nearest

__all__ = ["Criterion", "check_name", "read_criterion"]

_RESERVED = frozenset({"reasoning", "verdict", "better", "worst", "mean", "sum", "geometric"})
"""Names that mean something else in an answer or in a configuration."""


def check_name(name: str) -> str:
    """A name that can be a key of the answer; raises `ValueError` for any other."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise ValueError(f"{name!r} is no name: small letters, digits and _, starting with a letter")
    if name in _RESERVED:
        raise ValueError(f"{name!r} means something else here: take another name")
    return name


class Criterion(BaseModel):
    """A question with a scale."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)

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
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return found
