"""One export of metrics as OTLP/JSON: sums and histograms, the two kinds that are recorded here."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.metrics.export import Histogram, HistogramDataPoint, Metric, MetricsData, NumberDataPoint, Sum

from turngate.traces.telemetry._json_values import attributes_json, number_json, resource_json, scope_json

__all__ = ["metrics_data_json"]


def metrics_data_json(data: MetricsData) -> dict[str, Any]:
    """A `MetricsData` message. Exemplars are left out: the file has the spans themselves."""
    return {
        "resourceMetrics": [
            {
                "resource": resource_json(resource.resource),
                "scopeMetrics": [
                    {"scope": scope_json(scope.scope), "metrics": [_metric(metric) for metric in scope.metrics]}
                    for scope in resource.scope_metrics
                ],
            }
            for resource in data.resource_metrics
        ]
    }


def _metric(metric: Metric) -> dict[str, Any]:
    found: dict[str, Any] = {"name": metric.name, "description": metric.description or "", "unit": metric.unit or ""}
    match metric.data:
        case Sum(points, temporality, is_monotonic):
            found["sum"] = {
                "aggregationTemporality": temporality.value,
                "isMonotonic": is_monotonic,
                "dataPoints": [_number(point) for point in points],
            }
        case Histogram(points, temporality):
            found["histogram"] = {
                "aggregationTemporality": temporality.value,
                "dataPoints": [_distribution(point) for point in points],
            }
    return found


def _number(point: NumberDataPoint) -> dict[str, Any]:
    value = {"asInt": str(point.value)} if isinstance(point.value, int) else {"asDouble": number_json(point.value)}
    return {**_point(point), **value}


def _distribution(point: HistogramDataPoint) -> dict[str, Any]:
    return {
        **_point(point),
        "count": str(point.count),
        "sum": number_json(point.sum),
        "min": number_json(point.min),
        "max": number_json(point.max),
        "bucketCounts": [str(count) for count in point.bucket_counts],
        "explicitBounds": list(point.explicit_bounds),
    }


def _point(point: NumberDataPoint | HistogramDataPoint) -> dict[str, Any]:
    return {
        "attributes": attributes_json(point.attributes),
        "startTimeUnixNano": str(point.start_time_unix_nano),
        "timeUnixNano": str(point.time_unix_nano),
    }
