"""Keeps API keys out of everything that is written or printed."""

from __future__ import annotations

import os
import re
from functools import lru_cache

__all__ = ["redact"]

_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)", re.IGNORECASE)
_SHAPES = re.compile(
    r"AIza[0-9A-Za-z_\-]{20,}"  # Google API key
    r"|\bsk-[0-9A-Za-z_\-]{16,}"  # OpenAI and compatible
    r"|\bhf_[0-9A-Za-z]{16,}"  # Hugging Face
    r"|(?<=Bearer )[0-9A-Za-z._\-]{8,}"
    r"|(?<=[?&]key=)[^&\s\"']+"
    r"|(?<=[?&]api_key=)[^&\s\"']+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"  # user:password@host
)


def redact(text: str) -> str:
    """`text` with every secret of the environment and everything shaped like a key replaced by `[redacted]`."""
    for secret in _secrets(tuple(sorted((n, v) for n, v in os.environ.items() if _NAME.search(n) and len(v) >= 8))):
        text = text.replace(secret, "[redacted]")
    return _SHAPES.sub("[redacted]", text)


@lru_cache(maxsize=8)
def _secrets(items: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    # A path (SSH_KEY_FILE=/home/...) or a plain word is not a secret, and replacing it would damage texts.
    values = {value for _, value in items if not value.startswith(("/", "~", "./")) and not value.isalpha()}
    return tuple(sorted(values, key=len, reverse=True))
