"""One failed call to a provider."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Try"]


@dataclass(frozen=True)
class Try:
    """A call to a provider that failed."""

    why: str
    """Kind of failure, see `turngate.providers.failure.Kind`."""
    seconds: float
    """How long the call took."""
    waited: float
    """Pause before the next call, seconds; 0 when it was the last."""
