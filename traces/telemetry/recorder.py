"""Sends what is recorded to OpenTelemetry while a run works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from turngate.traces.records import AttemptRecord
from turngate.traces.run_folder import RunFolder, RunInfo
from turngate.traces.telemetry import place as propagation
from turngate.traces.telemetry.config import Signal, TelemetryConfig, attribute_limit, chosen_exporters
from turngate.traces.telemetry.content import Content
from turngate.traces.telemetry.export import read_last_event, read_past
from turngate.traces.telemetry.place import TracePlace
from turngate.traces.telemetry.providers import Dropped, Providers, application_providers

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from turngate.traces.telemetry.pipeline import Pipeline
    from turngate.traces.telemetry.run_signals import RunSignals

__all__ = ["TelemetryRecorder"]


class TelemetryRecorder:
    """Observer of a run: sends what was recorded, after it was recorded, with the recorded times.

    Spans and events depend on the ledger alone, so two processes that work on a run one after the other, and a later
    `export_run`, send the same. Nothing it does waits for a collector; `close` waits a bounded time.
    """

    def __init__(
        self,
        config: TelemetryConfig,
        folder: Path,
        *,
        endpoint: str | None = None,
        tracer_provider: TracerProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        """`folder` is the run's; it need not exist yet.

        `endpoint` overrides the standard variables. What has a provider here goes to the application's own pipeline
        (spans under ids of its making), which the application flushes; nothing else is sent then. Without any,
        `exporter: auto` takes the providers that the application has set globally. Raises `ConfigError` for an endpoint
        or a variable that cannot be understood.
        """
        self.dropped = Dropped()
        """What did not arrive; known after `close`."""
        self._config = config
        self._folder = folder
        self._content = Content(config.capture_content, attribute_limit(config))
        self._pipeline: Pipeline | None = None
        self._signals: RunSignals | None = None
        self._providers = Providers()
        given = Providers(tracer_provider, logger_provider, meter_provider)
        if config.exporter == "none":
            return
        if given:
            self._providers = given
            return
        application = application_providers(config.signals) if config.exporter == "auto" else Providers()
        self._pipeline = _pipeline(config, application, folder, endpoint, self._content.limit)
        own = self._pipeline.providers if self._pipeline is not None else Providers()
        self._providers = Providers(
            application.tracer or own.tracer, application.logger or own.logger, application.meter or own.meter, own.ids
        )

    @property
    def on(self) -> bool:
        """Whether anything is sent."""
        return bool(self._providers)

    def started(self, info: RunInfo, started_ns: int) -> None:
        """The run begins or goes on; `started_ns` is when it first began, unless the ledger has a time."""
        if not self.on:
            return
        from turngate.traces.telemetry.run_signals import RunSignals

        past = read_past(self._folder)
        place = TracePlace(info.run, self._config.trace_per, past.started_under)
        folder, since = RunFolder(self._folder), past.started_ns or started_ns
        self._signals = RunSignals(self._providers, folder, info, place, self._content, since)
        for record in past.records:
            self._signals.skip(record)
        if self._providers.ids is not None:
            propagation.enter(place)

    def attempt(self, record: AttemptRecord) -> None:
        """An attempt was recorded."""
        if self._signals is not None:
            self._signals.attempt(record)

    def ended(self, status: str, reason: str | None, ended_ns: int) -> None:
        """This process's work on the run ended; `ended_ns` is when, unless the ledger has a time."""
        if self._signals is None:
            return
        propagation.leave()
        last = read_last_event(self._folder)
        if last is not None and last.kind == "ended":
            self._signals.end(status, reason, last.at_ns, last.data.get("broken_off", False))
        else:
            self._signals.end(status, reason, ended_ns, False)
        self._signals = None

    def close(self) -> Dropped:
        """Send what waits, for at most the configured `flush_seconds`; returns `dropped`."""
        if self._pipeline is not None:
            self.dropped = self._pipeline.close(self._config.flush_seconds)
            self._pipeline = None
        return self.dropped


def _pipeline(
    config: TelemetryConfig, application: Providers, folder: Path, endpoint: str | None, limit: int
) -> Pipeline | None:
    chosen = chosen_exporters(config)
    taken: dict[Signal, object] = {
        "traces": application.tracer,
        "logs": application.logger,
        "metrics": application.meter,
    }
    chosen |= {signal: "none" for signal, provider in taken.items() if provider is not None}
    if set(chosen.values()) == {"none"}:
        return None
    from turngate.traces.telemetry.pipeline import Pipeline

    return Pipeline(chosen, folder / "telemetry.jsonl", endpoint, limit)
