"""Text from models, prompts and files made harmless to read: what cannot be seen is shown, nothing is interpreted."""

from __future__ import annotations

import re

__all__ = ["clip", "visible"]

# Control characters except newline and tab; bidirectional controls, which reorder what is read; zero-width and tag
# characters, which hide text; line separators; lone surrogates and non-characters, which no UTF-8 file can hold.
# Zero-width joiners stay: Persian, Hindi and emoji are written with them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)

_LONG = 1000
"""Characters from where on a place has room for saying how much was left out."""


def visible(text: str) -> str:
    """`text` with every character shown that would not be seen or would change how the rest is read.

    C0 controls become their control pictures (an escape becomes U+241B), all others their code point in brackets.
    """
    return _HIDDEN.sub(_shown, text.replace("\r\n", "\n"))


def clip(text: object, length: int = 4000) -> str:
    """At most `length` characters and a sign of what was left out: how much it was, unless the place is too short."""
    whole = str(text)
    left_out = len(whole) - length
    if left_out <= 0:
        return whole
    return f"{whole[:length]} ..." + (f" ({left_out} more characters in the ledger)" if length >= _LONG else "")


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return chr(0x2421) if code == 0x7F else f"[U+{code:04X}]"
