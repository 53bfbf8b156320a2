"""Reads `multipart/form-data` with the standard library, so that no package is needed for one endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP

__all__ = ["FormField", "read_form"]


@dataclass(frozen=True)
class FormField:
    """A value, or a file."""

    name: str
    data: bytes
    media_type: str | None = None
    """Declared type of a file."""


def read_form(content_type: str, body: bytes) -> list[FormField]:
    """Fields in their order; raises `ValueError` when the body is no form."""
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    if not message.is_multipart():
        raise ValueError("not multipart/form-data")
    fields = []
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(data, bytes):
            fields.append(FormField(name, data, part.get_content_type() if part.get_filename() else None))
    return fields
