"""JSON after any schema, and where there is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from .process import FakeServer

if TYPE_CHECKING:
    from google.genai import Client
    from openai import OpenAI

QUESTION = "How good is it?"


def test_json_object_without_a_schema(fake_server: FakeServer, openai: OpenAI) -> None:
    def ask() -> Any:
        chat = openai.chat.completions.create(
            model="m", messages=[{"role": "user", "content": QUESTION}], response_format={"type": "json_object"}
        )
        return json.loads(chat.choices[0].message.content or "")

    assert ask()["score"] == 7
    fake_server.script(judge={"quality": 0.25})
    assert ask() == {"quality": 0.25}
    fake_server.script(judge={"quality": 0.25, "why": "blurred"}, judge_queue=["score:0.5", "out_of_range"])
    assert ask() == {"quality": 0.5, "why": "blurred"}
    assert ask() == {"quality": 1000, "why": "blurred"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "integer", "minimum": 3, "maximum": 3}, "minItems": 4},
        {"enum": ["b", "a"]},
        {"const": 5},
        {"oneOf": [{"type": "null"}, {"type": "string"}]},
        {"type": ["null", "number"], "minimum": -1, "maximum": 1},
        {"allOf": [{"type": "object"}, {"properties": {"a": {"type": "boolean"}}, "required": ["a"]}]},
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"properties": {"left": {"$ref": "#/$defs/tree"}}}}},
        {"type": "object", "properties": {"$comment": {"type": "string", "maxLength": 2}}, "required": ["$comment"]},
        {},
    ],
)
def test_schemas(gemini: Client, schema: dict[str, Any]) -> None:
    from google.genai import types

    config = types.GenerateContentConfig(response_mime_type="application/json", response_json_schema=schema)
    answer = gemini.models.generate_content(model="gemini-fake", contents=QUESTION, config=config)
    if "$defs" not in schema:  # a tree has no end; it is cut with null
        Draft202012Validator(schema).validate(json.loads(answer.text or ""))
    assert answer.text


def test_broken_schema(gemini: Client) -> None:
    from google.genai import errors, types

    config = types.GenerateContentConfig(
        response_mime_type="application/json", response_json_schema={"type": "string", "maxLength": "many"}
    )
    with pytest.raises(errors.ClientError, match="Invalid schema"):
        gemini.models.generate_content(model="gemini-fake", contents=QUESTION, config=config)
