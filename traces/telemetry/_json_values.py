"""Attributes, resources and scopes as OTLP/JSON: 64-bit integers as strings, ids in hex, enums as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

__all__ = ["attributes_json", "number_json", "resource_json", "scope_json"]

_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def attributes_json(attributes: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """A list of `KeyValue`."""
    return [{"key": key, "value": _value(value)} for key, value in (attributes or {}).items()]


def resource_json(resource: Resource) -> dict[str, Any]:
    """A `Resource`."""
    return {"attributes": attributes_json(resource.attributes)}


def scope_json(scope: InstrumentationScope | None) -> dict[str, Any]:
    """An `InstrumentationScope`."""
    if scope is None:
        return {}
    return {"name": scope.name, "version": scope.version or "", "attributes": attributes_json(scope.attributes)}


def number_json(value: float) -> float | str:
    """A double; JSON has no infinity."""
    return value if math.isfinite(value) else _WORDS[str(value)]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": number_json(value)}
    if isinstance(value, Sequence):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}
