"""Which exporter a run uses, from its configuration and the standard OTEL_* variables."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Literal

from turngate.traces.telemetry.config import TelemetryConfig

__all__ = ["ExporterKind", "chosen_exporter"]

ExporterKind = Literal["none", "jsonl", "otlp"]

_log = logging.getLogger(__name__)


def chosen_exporter(config: TelemetryConfig, environment: Mapping[str, str] | None = None) -> ExporterKind:
    """What `config` and `environment` (default: the process's) ask for.

    `OTEL_SDK_DISABLED=true` turns everything off. A configuration that names an exporter wins over the other
    variables; `auto` takes OTLP when `OTEL_TRACES_EXPORTER` lists it, or when it is unset and an OTLP endpoint is set.
    """
    variables = os.environ if environment is None else environment
    if variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return "none"
    kind: ExporterKind = _automatic(variables) if config.exporter == "auto" else config.exporter
    if kind == "otlp" and _protocol(variables) == "grpc":
        _log.warning("telemetry is off: turngate speaks OTLP over HTTP, set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf")
        return "none"
    return kind


def _automatic(variables: Mapping[str, str]) -> ExporterKind:
    listed = {name.strip().lower() for name in variables.get("OTEL_TRACES_EXPORTER", "").split(",")} - {""}
    if listed:
        return "otlp" if "otlp" in listed else "none"
    endpoint = variables.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or variables.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    return "otlp" if endpoint else "none"


def _protocol(variables: Mapping[str, str]) -> str:
    general = variables.get("OTEL_EXPORTER_OTLP_PROTOCOL", "")
    return (variables.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or general).strip().lower()
