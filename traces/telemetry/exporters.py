"""Where spans go: OTLP over HTTP, or a JSON lines file in OTLP's own JSON form, which collectors can read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from turngate.errors import ConfigError
from turngate.traces.telemetry._otlp_json import traces_data

__all__ = ["JsonLinesExporter", "otlp_exporter", "traces_url"]


def otlp_exporter(endpoint: str | None) -> SpanExporter:
    """OTLP over HTTP to `endpoint` (a base URL or the full one); None: the standard OTEL_EXPORTER_OTLP_* variables.

    Raises `ConfigError` when the endpoint or a variable cannot be understood.
    """
    try:
        return OTLPSpanExporter(endpoint=traces_url(endpoint) if endpoint else None)
    except (ValueError, RuntimeError, OSError) as error:
        raise ConfigError(f"telemetry: {error}: check the OTEL_EXPORTER_OTLP_* variables") from error


def traces_url(endpoint: str) -> str:
    """`endpoint` with OTLP's path for traces when it has none; raises `ConfigError` when it is not an HTTP URL."""
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"telemetry endpoint {endpoint!r} is no http(s) URL: give one such as http://localhost:4318")
    return endpoint if parts.path.strip("/") else endpoint.rstrip("/") + "/v1/traces"


class JsonLinesExporter(SpanExporter):
    """Appends one line per span: a `TracesData` message of OTLP/JSON that holds this span."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write `spans`; FAILURE when the file cannot be written."""
        try:
            file = self._open()
            file.writelines(json.dumps(traces_data(span), ensure_ascii=False) + "\n" for span in spans)
            file.flush()
        except (OSError, ValueError):  # ValueError: closed meanwhile, because the time was up
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> IO[str]:
        if self._file is None:
            torn = _ends_in_mid_line(self.path)
            self._file = self.path.open("a", encoding="utf-8")
            if torn:
                self._file.write("\n")
        return self._file


def _ends_in_mid_line(path: Path) -> bool:
    """A process that was killed while it wrote leaves half a line."""
    try:
        with path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) != b"\n"
    except OSError:
        return False
