"""What a call costs, from its tokens and a price table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pydantic import Field

from turngate.frozen import StrictModel
from turngate.yaml_text import parse_yaml

__all__ = ["Prices", "Tokens", "cost", "known_prices"]


class Prices(StrictModel, allow_inf_nan=False):
    """US dollars per million tokens."""

    text_input: float = Field(ge=0)
    """Instructions and other text that is sent."""
    image_input: float = Field(ge=0)
    """Images that are sent."""
    text_output: float = Field(ge=0)
    """Text and thoughts that come back."""
    image_output: float = Field(ge=0)
    """Images that come back."""


@dataclass(frozen=True)
class Tokens:
    """Tokens of a call by kind; None where the provider did not say."""

    text_input: int | None
    image_input: int | None
    text_output: int | None
    image_output: int | None

    @classmethod
    def split(cls, sent: int | None, sent_images: int | None, made: int | None, made_images: int | None) -> Tokens:
        """From all tokens that went out and came back, and those of images among them."""
        return cls(_rest(sent, sent_images), sent_images, _rest(made, made_images), made_images)


def _rest(total: int | None, part: int | None) -> int | None:
    return None if total is None or part is None else total - part


def known_prices(model: str) -> Prices | None:
    """Prices of a model in the shipped table (`prices.yaml`), also of a dated or numbered version; None if unknown."""
    table = _table()
    return table.get(model) or table.get(re.sub(r"(-\d+|-\d{4}-\d{2}-\d{2}|-preview)$", "", model))


def cost(tokens: Tokens, prices: Prices | None) -> float | None:
    """US dollars of a call. None when a price or the split of the tokens is not known: no guess is made."""
    if prices is None:
        return None
    total = 0.0
    for name in Prices.model_fields:
        number = getattr(tokens, name)
        if number is None:
            return None
        total += number * getattr(prices, name) / 1e6
    return total


@cache
def _table() -> dict[str, Prices]:
    raw = parse_yaml(resources.files("turngate.providers").joinpath("prices.yaml").read_text("utf-8"), "prices.yaml")
    return {name: Prices(**row) for name, row in raw["models"].items()}
