"""What telemetry could not deliver."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Dropped"]


@dataclass(frozen=True)
class Dropped:
    """How much of each signal never arrived; zero everywhere where nothing was sent."""

    spans: int = 0
    events: int = 0
    """Evaluation events."""
    points: int = 0
    """Data points of metrics. Where metrics are cumulative, those of the last export: it repeats the ones before."""

    def __bool__(self) -> bool:
        return bool(self.spans or self.events or self.points)

    def __str__(self) -> str:
        counts = {"spans": self.spans, "events": self.events, "metric points": self.points}
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing"
