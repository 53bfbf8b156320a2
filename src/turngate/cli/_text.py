"""Text from models, files and prompts, made harmless for a terminal."""

from __future__ import annotations

import unicodedata

__all__ = ["plain"]


def plain(text: str, limit: int = 300) -> str:
    """One line without control, format or bidirectional characters, cut to `limit` characters."""
    line = "".join(character if _harmless(character) else " " for character in text)
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _harmless(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
