"""What went wrong with a call to a provider, in the same words for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["RETRIED", "Failure", "Kind"]

Kind = Literal[
    "per_minute", "per_day", "capacity", "unavailable", "transport", "timeout",
    "bad_request", "conversation", "auth", "not_found", "moderation", "malformed",
]  # fmt: skip
"""
- `per_minute`, `per_day`: a limit of the account; `capacity`: the provider is full;
- `unavailable`: HTTP 408, 500, 502, 503, 504; `transport`: no connection, or it broke; `timeout`: our deadline passed;
- `bad_request`: HTTP 400 and the like; `conversation`: the history that was sent back is not accepted (a thought
  signature is missing); `auth`: the key is missing, wrong or not allowed; `not_found`: no such model or path;
- `moderation`: refused for its content; `malformed`: the answer is not what the protocol says.
"""

RETRIED: frozenset[Kind] = frozenset({"per_minute", "capacity", "unavailable", "transport", "timeout", "malformed"})
"""Kinds that another try may mend."""


@dataclass(frozen=True)
class Failure:
    """One failed call."""

    kind: Kind
    message: str
    """One line; the provider's words, shortened."""
    wait: float | None = None
    """Seconds that the provider asks to wait, if it says so."""
