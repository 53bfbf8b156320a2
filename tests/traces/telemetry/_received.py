"""Spans, events and data points as they arrive in protobuf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Received:
    """One span as it arrived."""

    name: str
    trace: str
    span: str
    parent: str | None
    kind: int
    started: int
    ended: int
    attributes: dict[str, Any]
    status: int
    message: str
    links: list[tuple[str, str, dict[str, Any]]]


@dataclass
class Event:
    """One log event as it arrived."""

    name: str
    trace: str
    span: str
    at: int
    attributes: dict[str, Any]


@dataclass
class Point:
    """One data point as it arrived."""

    metric: str
    unit: str
    attributes: dict[str, Any]
    value: float
    """Sum of a counter or of a histogram."""
    count: int
    """Measurements in a histogram."""
    bounds: list[float]
    temporality: int
    exemplars: list[str]
    """Spans that are named as examples."""


def received(span: Any) -> Received:
    return Received(
        name=span.name,
        trace=span.trace_id.hex(),
        span=span.span_id.hex(),
        parent=span.parent_span_id.hex() or None,
        kind=span.kind,
        started=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        attributes=plain(span.attributes),
        status=span.status.code,
        message=span.status.message,
        links=[(link.trace_id.hex(), link.span_id.hex(), plain(link.attributes)) for link in span.links],
    )


def measured(metric: Any, data: Any, point: Any) -> Point:
    number = point.DESCRIPTOR.name == "NumberDataPoint"
    return Point(
        metric=metric.name,
        unit=metric.unit,
        attributes=plain(point.attributes),
        value=(point.as_double or point.as_int) if number else point.sum,
        count=0 if number else point.count,
        bounds=[] if number else list(point.explicit_bounds),
        temporality=data.aggregation_temporality,
        exemplars=[exemplar.span_id.hex() for exemplar in point.exemplars],
    )


def plain(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)
