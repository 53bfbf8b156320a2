"""To whom a run is told: providers of our own, or those of the application that turngate is part of."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from turngate.traces.telemetry.config import Signal

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from turngate.traces.telemetry.derived_ids import DerivedIds

__all__ = ["Providers", "application_providers"]


@dataclass(frozen=True)
class Providers:
    """One per signal; None: that signal is not sent."""

    tracer: TracerProvider | None = None
    logger: LoggerProvider | None = None
    meter: MeterProvider | None = None
    ids: DerivedIds | None = None
    """Set with a tracer provider of our own: ids are derived from run, turn and attempt."""

    def __bool__(self) -> bool:
        return any(one is not None for one in (self.tracer, self.logger, self.meter))


def application_providers(signals: Collection[Signal] | None = None) -> Providers:
    """What the application has set as OpenTelemetry's global providers, for `signals` (None: all). Loads nothing."""
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
