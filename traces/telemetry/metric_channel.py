"""Metrics on their way out of one recorder: an export every minute and one at the end, counted losses."""

from __future__ import annotations

from opentelemetry.sdk.metrics import Counter, MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import Resource

from turngate.errors import ConfigError
from turngate.traces.telemetry._quiet import quiet
from turngate.traces.telemetry.delivery import Delivery

__all__ = ["MetricChannel"]


class MetricChannel:
    """A meter provider of our own with one exporter. `target` names it in the warning.

    Raises `ConfigError` for a value of OTEL_METRIC_EXPORT_INTERVAL that is no interval.
    """

    def __init__(self, exporter: MetricExporter, target: str, resource: Resource) -> None:
        self._delivery = Delivery("metrics", target, exporter.shutdown)
        try:
            reader = PeriodicExportingMetricReader(_Delivering(exporter, self._delivery))
        except ValueError as error:
            raise ConfigError(f"telemetry: {error}: check OTEL_METRIC_EXPORT_INTERVAL") from error
        self.provider = MeterProvider([reader], resource, shutdown_on_exit=False)

    @property
    def dropped(self) -> int:
        """Data points that were not delivered; final after `close`."""
        return self._delivery.lost

    def close(self) -> None:
        """Deliver the last values and close the exporter, however long it takes."""
        with quiet():
            self.provider.shutdown()

    def stop(self) -> None:
        """Give up what has not been delivered."""
        self._delivery.stop()


class _Delivering(MetricExporter):
    def __init__(self, exporter: MetricExporter, delivery: Delivery) -> None:
        # The SDK's reader asks these two of whatever exporter it gets; there is no public way to them.
        temporality, aggregation = exporter._preferred_temporality, exporter._preferred_aggregation
        super().__init__(temporality, aggregation)
        self._exporter = exporter
        self._delivery = delivery
        self._cumulative = (temporality or {}).get(Counter) is not AggregationTemporality.DELTA

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **_: object) -> MetricExportResult:
        arrived = self._delivery.send(
            _points(metrics_data),
            lambda: self._exporter.export(metrics_data, timeout_millis) is MetricExportResult.SUCCESS,
            supersedes=self._cumulative,
        )
        return MetricExportResult.SUCCESS if arrived else MetricExportResult.FAILURE

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **_: object) -> None:
        self._delivery.shutdown()


def _points(data: MetricsData) -> int:
    return sum(
        len(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    )
