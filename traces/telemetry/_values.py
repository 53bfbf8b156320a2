"""Small steps from a row's fields to attribute values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from turngate.traces.telemetry.content import Content

__all__ = ["Attributes", "Value", "known", "parts", "type_of", "words"]

Value: TypeAlias = str | bool | int | float | list[str]
Attributes: TypeAlias = dict[str, Value]

_MOST_PARTS = 16
"""Evidence and components come from plug-ins; the rest of a span must keep its place (SDK limit: 128 attributes)."""
_MOST_WORDS = 8
"""Flags that are shown; the ledger has them all."""


def known(values: Mapping[str, Value | None]) -> Attributes:
    """Without what is not known."""
    return {name: value for name, value in values.items() if value is not None}


def words(values: Sequence[str], content: Content) -> list[str] | None:
    """The first flags of a row; None when there are none."""
    return [content.word(value) for value in values[:_MOST_WORDS]] or None


def parts(name: str, values: Mapping[str, float | str | None], content: Content) -> Attributes:
    """One attribute per named value; `name` says with `{name}` where the value's name goes."""
    shown = [(key, value) for key, value in values.items() if value is not None][:_MOST_PARTS]
    return {
        name.format(name=content.word(key)): content.word(value) if isinstance(value, str) else value
        for key, value in shown
    }


def type_of(config: Mapping[str, object], part: str) -> str | None:
    """Registry name of a part in a configuration."""
    chosen = config.get(part)
    return str(chosen["type"]) if isinstance(chosen, Mapping) and "type" in chosen else None
