"""Reads a judge's text: the one JSON object in it, checked; everything else is a typed reason, never a guess."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from turngate.errors import one_line
from turngate.evaluators.result import Failed, Unscored

__all__ = ["answer_model", "mark", "read_answer", "schema_of", "word"]

_LONGEST = 200_000
_MOST_TRIES = 200
"""Places where an object may begin; nested garbage would take a time that grows with its square."""
_REFUSAL = re.compile(
    r"\W*(i['’]?m sorry|sorry,|i am sorry|i can['’]?t|i cannot|i['’]?m (unable|not able))", re.IGNORECASE
)
_RANGE = frozenset({"greater_than_equal", "less_than_equal"})


def _number(value: Any) -> Any:
    """Models put numbers in quotes; a number with anything else around it stays what it is, and is refused."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d+(\.\d+)?\s*", value):
        return float(value)
    return value


def _whole(value: Any) -> Any:
    value = _number(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def mark(low: float, high: float, whole: bool = False) -> Any:
    """Type of a mark between `low` and `high`, both included."""
    scale = Field(ge=low, le=high)
    return (
        Annotated[int, scale, BeforeValidator(_whole)] if whole else Annotated[float, scale, BeforeValidator(_number)]
    )


def word(*words: str) -> Any:
    """Type of one of some words, whatever their case."""
    known = {word.casefold(): word for word in words}

    def spell(value: Any) -> Any:
        return known.get(value.strip().casefold(), value) if isinstance(value, str) else value

    return Annotated[Literal.__getitem__(words), BeforeValidator(spell)]


def answer_model(fields: Mapping[str, Any]) -> type[BaseModel]:
    """A model of the answer: name -> type, all needed; other fields of an answer are ignored.

    Python names differ from those in the answer, so that no name can hide something of pydantic's.
    """
    made: dict[str, Any] = {
        f"field_{number}": (kind, Field(alias=name)) for number, (name, kind) in enumerate(fields.items())
    }
    return create_model(
        "Answer", __config__=ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, frozen=True), **made
    )


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema to send to a model; it forbids other fields, as strict servers want it."""
    schema = model.model_json_schema()
    for field in schema["properties"].values():
        field.pop("title", None)
    schema.pop("title", None)
    return {**schema, "additionalProperties": False}


def read_answer(text: str, model: type[BaseModel]) -> dict[str, Any] | Unscored | Failed:
    """The fields of the answer.

    `Unscored("parse")` without exactly one JSON object that has them (equal ones count as one), `Unscored("refused")`
    for text without JSON that opens like a refusal, `Failed("range")` for a mark outside its scale.
    """
    text = text.rpartition("</think>")[2]
    if len(text) > _LONGEST:
        return Unscored("parse", f"the answer has {len(text)} characters")
    names = [str(field.alias) for field in model.model_fields.values()]
    found = [candidate for candidate in _objects(text) if all(name in candidate for name in names)]
    different = [one for number, one in enumerate(found) if one not in found[:number]]
    if len(different) > 1:
        return Unscored("parse", f"{len(different)} different answers: {_shown(text)}")
    if not different:
        return _no_object(text, names)
    try:
        return model.model_validate(different[0]).model_dump(by_alias=True)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(step) for step in problem["loc"])
        message = f"{field} is {_shown(str(problem['input']))}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
        return Failed("provider", "range", message) if problem["type"] in _RANGE else Unscored("parse", message)


def _no_object(text: str, names: list[str]) -> Unscored:
    if not text.strip():
        return Unscored("parse", "the answer is empty")
    if "{" not in text and _REFUSAL.match(text):
        return Unscored("refused", _shown(text))
    return Unscored("parse", f"no JSON object with {', '.join(names)} in the answer: {_shown(text)}")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object in the text, whatever surrounds it."""
    decoder = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_once)
    start = text.find("{")
    for _ in range(_MOST_TRIES):
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(text, start)
            yield found
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)


def _shown(text: str) -> str:
    return repr(one_line(text, 200))
