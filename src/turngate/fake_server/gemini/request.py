"""Reads the body of a `generateContent` request."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from turngate.fake_server.asked import Asked, BadRequest, ReceivedImage
from turngate.fake_server.gemini.answers import signature_of

__all__ = ["read_gemini"]


# Gemini's dialect of JSON Schema: `responseSchema`.


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


def read_gemini(model: str, body: Any, stream: bool) -> Asked:
    """What is asked for; raises `BadRequest` with the message that the API would give."""
    if not isinstance(body, Mapping):
        raise BadRequest("Invalid JSON payload received.")
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents or not all(isinstance(one, Mapping) for one in contents):
        raise BadRequest("* GenerateContentRequest.contents: contents is not specified")
    config = _mapping(_field(body, "generationConfig"))
    images: list[ReceivedImage] = []
    messages: list[dict[str, Any]] = []
    unsigned = None
    for position, content in enumerate(contents, start=1):
        role, kinds = str(content.get("role", "user")), []
        for number, part in enumerate(_parts(content), start=1):
            image = _image(part)
            if image:
                images.append(image)
                if role == "model" and not part.get("thought"):
                    unsigned = unsigned or _unsigned(part, image, position, number)
            kinds.append(_kind(part))
        messages.append({"role": role, "parts": kinds})
    return Asked(
        provider="gemini",
        kind="edit" if _wants_image(model, config) else "judge",
        model=model,
        text=_text(contents[-1]),
        images=tuple(images),
        turn=sum(message["role"] == "user" for message in messages),
        seed=config.get("seed"),
        schema=_schema(config),
        thoughts=bool(_field(_mapping(_field(config, "thinkingConfig")), "includeThoughts")),
        config=_config(config, body),
        messages=tuple(messages),
        unsigned=unsigned,
        stream=stream,
    )


def _wants_image(model: str, config: Mapping[str, Any]) -> bool:
    modalities = _field(config, "responseModalities")
    if modalities:
        return any(str(one).upper() == "IMAGE" for one in modalities)
    return "image" in model and _field(config, "responseMimeType") is None


def _schema(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    own = _field(config, "responseSchema")
    if isinstance(own, Mapping):
        return plain_schema(own)
    given = _field(config, "responseJsonSchema")
    return given if isinstance(given, Mapping) else None


def _config(config: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    system = _field(body, "systemInstruction")
    return {**config, "systemInstruction": _text(_mapping(system))} if system else dict(config)


def _parts(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = content.get("parts")
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _text(content: Mapping[str, Any]) -> str:
    return "\n".join(str(part["text"]) for part in _parts(content) if "text" in part)


def _kind(part: Mapping[str, Any]) -> str:
    kind = "image" if _field(part, "inlineData") else "text" if "text" in part else "other"
    marks = [mark for mark, name in (("thought", "thought"), ("signature", "thoughtSignature")) if _field(part, name)]
    return "+".join([kind, *marks])


def _image(part: Mapping[str, Any]) -> ReceivedImage | None:
    inline = _field(part, "inlineData")
    if not isinstance(inline, Mapping):
        return None
    try:
        # The SDKs encode for URLs or for MIME, as they please.
        data = base64.b64decode(str(inline.get("data", "")).replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error:
        raise BadRequest("Base64 decoding failed for inline_data.") from None
    return ReceivedImage(data, str(_field(inline, "mimeType") or ""))


def _unsigned(part: Mapping[str, Any], image: ReceivedImage, position: int, number: int) -> str | None:
    signature = _field(part, "thoughtSignature")
    if not signature:
        return (
            f"Image part is missing a thought_signature in content position {position}, part position {number}. Please "
            "refer to https://ai.google.dev/gemini-api/docs/thought-signatures#model-behavior for more details."
        )
    same = str(signature).replace("-", "+").replace("_", "/") == signature_of(image.data)
    return None if same else "Corrupted thought signature."


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _field(mapping: Mapping[str, Any], name: str) -> Any:
    """A field by its JSON name or its protobuf name: the API takes both, and google-genai sends both."""
    return mapping.get(name, mapping.get(re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)))
