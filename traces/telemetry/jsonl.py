"""A JSON lines file in OTLP/JSON, which collectors can read: a span, an event or an export of metrics a line.

The SDK encodes each batch as OTLP's protobuf message. OTLP/JSON is protobuf's JSON but for ids, which are hexadecimal,
and enums, which are numbers.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from turngate.traces.telemetry.channel import Sink
from turngate.traces.telemetry.config import Signal

__all__ = ["LinesFile", "sink"]

_ENCODERS: dict[Signal, Callable[[Any], Message]] = {
    "traces": encode_spans,
    "logs": encode_logs,
    "metrics": encode_metrics,
}
_PATHS: dict[Signal, tuple[str, str, str]] = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}
"""From a message to its spans or log records, each of which becomes a line; metrics are a line as they are."""
_64_BITS = (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64)
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class LinesFile:
    """Appends whole lines; any number of threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def append(self, messages: Iterable[dict[str, Any]]) -> bool:
        """Write one line per message; False when the file cannot be written."""
        lines = [json.dumps(message, ensure_ascii=False) + "\n" for message in messages]
        try:
            with self._lock:
                torn = _ends_in_mid_line(self.path)
                with self.path.open("a", encoding="utf-8") as file:
                    file.writelines(["\n", *lines] if torn else lines)
        except OSError:
            return False
        return True


def sink(file: LinesFile, signal: Signal) -> Sink:
    """Writes the batches of `signal` to `file`."""
    encode, path = _ENCODERS[signal], _PATHS.get(signal)

    def send(batch: Any) -> bool:
        message = _message(encode(batch))
        return file.append(_single(message, *path) if path else [message])

    return Sink(str(file.path), send)


def _single(message: dict[str, Any], outer: str, inner: str, items: str) -> Iterator[dict[str, Any]]:
    """One message per span or log record, each with its resource and scope."""
    for resource in message[outer]:
        for scope in resource[inner]:
            for item in scope[items]:
                yield {outer: [{**resource, inner: [{**scope, items: [item]}]}]}


def _message(message: Message) -> dict[str, Any]:
    """OTLP/JSON of a protobuf message; `MessageToDict` of the library takes twice as long and does other ids.

    Empty messages are left out: rotel refuses an event with an empty `body`, which the SDK gives to those without one.
    """
    found = {}
    for field, value in message.ListFields():
        made = _value(field, value)
        if made != {}:
            found[field.json_name] = made
    return found


def _value(field: FieldDescriptor, value: Any) -> Any:
    if isinstance(value, str | bool):
        return value
    if field.name == "attributes":  # most of every message, so the short way
        return [{"key": pair.key, "value": _message(pair.value)} for pair in value]
    if isinstance(value, Message):
        return _message(value)
    if isinstance(value, int):
        return str(value) if field.cpp_type in _64_BITS else value
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOT_FINITE[str(value)]
    if isinstance(value, bytes):  # trace and span ids alone
        return value.hex()
    return [_value(field, item) for item in value]


def _ends_in_mid_line(path: Path) -> bool:
    """A process that was killed while it wrote leaves half a line."""
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:
        return False
