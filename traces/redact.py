"""Keeps API keys out of everything that is written or printed."""

from __future__ import annotations

import os
import re
import time

__all__ = ["redact", "reread_secrets"]

_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)", re.IGNORECASE)
_SHAPES = re.compile(
    r"AIza[0-9A-Za-z_\-]{20,}"  # Google API key
    r"|\bsk-[0-9A-Za-z_\-]{16,}"  # OpenAI and compatible
    r"|\bhf_[0-9A-Za-z]{16,}"  # Hugging Face
    r"|(?<=Bearer )[0-9A-Za-z._\-]{8,}"
    r"|(?<=://)[^/\s@\"']+(?=@)"  # user, or user:password, before the host
)
_QUERY = re.compile(
    r"([?&](?:[\w.\-]*(?:key|token|secret|passw|signature|credential)[\w.\-]*|sig|auth|code)=)[^&\s\"'#]+",
    re.IGNORECASE,
)
"""Parameters of an address that let in whoever knows them."""


_FRESH_SECONDS = 1.0


def redact(text: str) -> str:
    """`text` with every secret of the environment and everything shaped like a key replaced by `[redacted]`.

    Reading the environment costs a hundred times more than the replacing, so it is read again after a second at the
    soonest, and whenever `reread_secrets` was called (opening a ledger does).
    """
    for secret in _secrets():
        text = text.replace(secret, "[redacted]")
    return _QUERY.sub(r"\1[redacted]", _SHAPES.sub("[redacted]", text))


def reread_secrets() -> None:
    """Look at the environment again before the next text."""
    _cache.clear()


_cache: dict[str, tuple[float, tuple[str, ...]]] = {}


def _secrets() -> tuple[str, ...]:
    now = time.monotonic()
    read_at, secrets = _cache.get("secrets", (-_FRESH_SECONDS, ()))
    if now - read_at >= _FRESH_SECONDS:
        named = {value for name, value in os.environ.items() if _NAME.search(name) and len(value) >= 8}
        # A path (SSH_KEY_FILE=/home/...) or a plain word is not a secret, and replacing it would damage texts.
        named = {value for value in named if not value.startswith(("/", "~", "./")) and not value.isalpha()}
        secrets = tuple(sorted(named, key=len, reverse=True))
        _cache["secrets"] = (now, secrets)
    return secrets
