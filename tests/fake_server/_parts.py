"""What stands in a Gemini response."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.genai.types import GenerateContentResponse, Part

__all__ = ["image_of", "parts_of"]


def parts_of(response: GenerateContentResponse) -> list[Part]:
    """Parts of the only candidate."""
    assert response.candidates
    assert response.candidates[0].content
    return response.candidates[0].content.parts or []


def image_of(response: GenerateContentResponse) -> bytes:
    """Bytes of the last part, which must be an image."""
    inline = parts_of(response)[-1].inline_data
    assert inline
    assert inline.data is not None
    return inline.data
