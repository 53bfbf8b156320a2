"""Gemini's dialect of JSON Schema: `responseSchema`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["plain_schema"]


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same as JSON Schema.

    The dialect has `"type": "OBJECT"`, takes `maxLength` and `max_length` alike (google-genai sends the latter), and
    may give whole numbers as strings, as protobuf's JSON does with 64-bit integers.
    """
    return {_json_name(key): _plain_value(_json_name(key), value) for key, value in schema.items()}


def _plain_value(key: str, value: Any) -> Any:
    match key, value:
        case "type", str():
            return value.lower()
        case "properties", Mapping():
            return {name: plain_schema(inner) for name, inner in value.items() if isinstance(inner, Mapping)}
        case "items", Mapping():
            return plain_schema(value)
        case "anyOf", list():
            return [plain_schema(inner) for inner in value if isinstance(inner, Mapping)]
        case (("maxLength" | "minItems"), str()):
            return int(value) if value.isdecimal() else value
    return value


def _json_name(key: str) -> str:
    return re.sub("_([a-z])", lambda found: found[1].upper(), key)
