"""The texts that a fake judge answers: JSON after the schema that was asked for, or what can go wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from turngate.fake_server.asked import Asked, BadRequest
from turngate.fake_server.script import Script, ScriptedReply

__all__ = ["judge_text"]

_PROSE = "The image looks much like the one before."
_UNASKED: Mapping[str, Any] = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 10}, "reasoning": {"type": "string"}},
}
"""Schema of the answer where neither the request nor the script has one."""
_BEYOND = 1000
"""Out of any range, where the schema has none."""
_DEEPEST = 6
"""Levels of a schema that refers to itself."""

MarkRule = Literal["plausible", "lowest", "beyond"] | float


def judge_text(asked: Asked, answer: ScriptedReply, script: Script) -> str:
    """Text of a judge's answer; every answer but the plain one is the script's doing."""
    match answer.ending:
        case "text":
            return answer.argument
        case "no_json":
            return _PROSE
        case "refusal":
            return "I'm sorry, but I can't help with that."
        case "empty":
            return ""
        case "score":
            return _json(asked, script, float(answer.argument))
        case "contradiction":
            return _json(asked, script, "lowest")
        case "out_of_range":
            return _json(asked, script, "beyond")
        case "fenced":
            return f"Here is my judgement:\n```json\n{_json(asked, script, 'plausible')}\n```"
        case "cut":
            whole = _json(asked, script, "plausible")
            return whole[: len(whole) // 2]
    return _json(asked, script, "plausible")


def _json(asked: Asked, script: Script, numbers: MarkRule) -> str:
    schema = _schema_of(script.judge) if asked.schema is None else asked.schema
    keep_numbers = numbers == "plausible"
    fixed = {name: value for name, value in script.judge.items() if keep_numbers or not _is_number(value)}
    try:
        return json.dumps(_Filler(schema, fixed, numbers).fill(schema), ensure_ascii=False)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise BadRequest("Invalid schema for the response.", "invalid_json_schema", "response_format") from None


def _schema_of(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Schema of the answer where none was given: the script's values, or a score and a reason."""
    if not values:
        return _UNASKED
    kinds = {name: {"type": "number"} if _is_number(value) else {"const": value} for name, value in values.items()}
    return {"type": "object", "properties": kinds}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Filler:
    """Fills in a JSON Schema."""

    def __init__(self, root: Mapping[str, Any], fixed: Mapping[str, Any], numbers: MarkRule) -> None:
        """`fixed` has values by field name, `numbers` says which of a range to take."""
        self.root = root
        self.fixed = fixed
        self.numbers = numbers

    def fill(self, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """A value that fits `schema`, unless it must not."""
        if "$ref" in schema:
            return self.fill(self._resolve(str(schema["$ref"])), depth + 1) if depth < _DEEPEST else None
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][0]
        for choice in ("anyOf", "oneOf"):
            if schema.get(choice):
                return self.fill(_first_real(schema[choice]), depth)
        if schema.get("allOf"):
            return self.fill({key: value for part in schema["allOf"] for key, value in part.items()}, depth)
        match _type(schema):
            case "object":
                return self._object(schema, depth)
            case "array":
                wanted = max(1, int(schema.get("minItems", 1))) if depth < _DEEPEST else 0
                return [self.fill(schema.get("items", {}), depth + 1) for _ in range(wanted)]
            case "integer" | "number" as kind:
                return self._number(schema, kind)
            case "boolean":
                return True
            case "null":
                return None
        return _PROSE[: int(schema.get("maxLength", len(_PROSE)))]

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        fields: Mapping[str, Any] = schema.get("properties", {})
        return {name: self.fixed[name] if name in self.fixed else self.fill(inner, depth + 1)
                for name, inner in fields.items()}  # fmt: skip

    def _number(self, schema: Mapping[str, Any], kind: str) -> float:
        if isinstance(self.numbers, float):
            value = self.numbers
            return int(value) if kind == "integer" and value.is_integer() else value
        low = float(schema.get("minimum", schema.get("exclusiveMinimum", 0)))
        high = float(schema.get("maximum", schema.get("exclusiveMaximum", max(low + 10, 10))))
        bounded = "maximum" in schema or "exclusiveMaximum" in schema
        match self.numbers:
            case "beyond":
                value = high + 1 if bounded else _BEYOND
            case "lowest":
                value = low
            case _:
                value = low + 0.7 * (high - low)
        return round(value) if kind == "integer" else round(value, 3)

    def _resolve(self, reference: str) -> Mapping[str, Any]:
        found: Any = self.root
        for step in reference.removeprefix("#/").split("/"):
            found = found.get(step, {}) if isinstance(found, Mapping) else {}
        return found if isinstance(found, Mapping) else {}


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    return str(kind)


def _first_real(choices: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    return next((choice for choice in choices if _type(choice) != "null"), choices[0])
