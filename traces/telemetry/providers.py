"""OpenTelemetry providers of a recorder, and counts of what they could not deliver. Loads no OpenTelemetry."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from turngate.traces.telemetry.config import Signal

if TYPE_CHECKING:
    from opentelemetry import _logs, metrics, trace

    from turngate.traces.telemetry.channel import DerivedIds

__all__ = ["Dropped", "Providers", "application_providers"]


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


@dataclass(frozen=True)
class Providers:
    """One per signal, of our own or the application's; None: that signal is not sent."""

    tracer: trace.TracerProvider | None = None
    logger: _logs.LoggerProvider | None = None
    meter: metrics.MeterProvider | None = None
    ids: DerivedIds | None = None
    """Set with a tracer provider of our own: ids are derived from run, turn and attempt."""

    def __bool__(self) -> bool:
        return any(provider is not None for provider in (self.tracer, self.logger, self.meter))


def application_providers(signals: Collection[Signal] | None = None) -> Providers:
    """Providers that the application has set globally in OpenTelemetry, for `signals` (None: all)."""
    wanted = get_args(Signal) if signals is None else signals
    return Providers(
        tracer=_set("opentelemetry.trace", "get_tracer_provider") if "traces" in wanted else None,
        logger=_set("opentelemetry._logs", "get_logger_provider") if "logs" in wanted else None,
        meter=_set("opentelemetry.metrics", "get_meter_provider") if "metrics" in wanted else None,
    )


def _set(module: str, getter: str) -> Any:
    api = sys.modules.get(module)
    if api is None:  # nobody can have set one
        return None
    provider = getattr(api, getter)()
    # The API's own classes are placeholders, whatever they are called.
    return None if type(provider).__module__.startswith(module) else provider
