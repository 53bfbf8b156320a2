"""Every random choice of a run comes from its seed."""

from __future__ import annotations

import hashlib
import secrets
from typing import Literal

__all__ = ["SeedPolicy", "derive", "editor_seed"]

SeedPolicy = Literal["per_attempt", "per_turn", "fixed", "none"]
"""How the editor's seed changes. `none`: a remote model is sent none, a local editor gets one from the system."""


def derive(seed: int, *purpose: str | int) -> int:
    """A seed in 0..2**31-1 for one purpose: the first 31 bits of SHA-256 over seed and purpose.

    It does not depend on the gate or the editor, so the arms of a study draw the same numbers.
    """
    text = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def editor_seed(seed: int, policy: SeedPolicy, turn: int, attempt: int) -> int:
    """The seed that the editor is given under a seed policy; under `none` another one at every call."""
    match policy:
        case "per_attempt":
            return derive(seed, "edit", turn, attempt)
        case "per_turn":
            return derive(seed, "edit", turn)
        case "fixed":
            return derive(seed, "edit")
        case "none":
            return secrets.randbits(31)
