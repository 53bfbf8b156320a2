"""Settings of telemetry, and the exporter of each signal after them and the standard OTEL_* variables."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import Field

from turngate.errors import ConfigError
from turngate.frozen import StrictModel

__all__ = ["ExporterKind", "Signal", "TelemetryConfig", "attribute_limit", "chosen_exporters"]


Signal = Literal["traces", "logs", "metrics"]
"""Spans; evaluation events, which OpenTelemetry counts among the logs; metrics."""


class TelemetryConfig(StrictModel):
    """Telemetry settings of a run; they never change what the run does."""

    exporter: Literal["auto", "none", "jsonl", "otlp"] = "auto"
    """`auto`: the application's own providers if it has set some, else OTLP/HTTP when the standard OTEL_* variables ask
    for it, else none. `jsonl`: telemetry.jsonl in the run folder."""
    signals: tuple[Signal, ...] | None = None
    """What is sent; where it is left out all but those whose OTEL_TRACES_EXPORTER, OTEL_LOGS_EXPORTER or
    OTEL_METRICS_EXPORTER says `none`."""
    capture_content: bool = False
    """Record instructions, reasoning summaries, explanations and image references (never image bytes)."""
    trace_per: Literal["run", "turn"] = "run"
    """One trace per run, or one per turn with a link to the run's span: for runs of a thousand turns and more."""
    attribute_bytes: int = Field(default=8192, ge=1024, le=65536)
    """Longest text in an attribute, bytes of UTF-8; the OTEL_*ATTRIBUTE_VALUE_LENGTH_LIMIT variables can only lower
    it. Texts other than messages get a quarter of it."""
    flush_seconds: float = Field(default=5, ge=0, le=3600, allow_inf_nan=False)
    """How long the end of a run waits for what has not been delivered yet; the rest counts as dropped."""


ExporterKind = Literal["none", "jsonl", "otlp"]

_log = logging.getLogger(__name__)
_LENGTH_LIMITS = (
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT",
)  # fmt: skip


def chosen_exporters(
    config: TelemetryConfig, environment: Mapping[str, str] | None = None
) -> dict[Signal, ExporterKind]:
    """Exporter of each signal, as `config` and `environment` (default: the process's) ask for.

    `OTEL_SDK_DISABLED=true` turns everything off. `OTEL_TRACES_EXPORTER`, `OTEL_LOGS_EXPORTER` and
    `OTEL_METRICS_EXPORTER` turn a signal off (`none`) unless the configuration names its signals, and on (`otlp`) under
    `auto`; under `auto` a signal without such a variable is on when an OTLP endpoint is set for it.
    """
    variables = os.environ if environment is None else environment
    off = variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return {signal: "none" if off else _chosen(config, signal, variables) for signal in get_args(Signal)}


def attribute_limit(config: TelemetryConfig, environment: Mapping[str, str] | None = None) -> int:
    """Bytes of the longest attribute: the configuration's, or a lower one of the standard variables, 256 at least.

    Raises `ConfigError` when such a variable is no number.
    """
    variables = os.environ if environment is None else environment
    limits = [config.attribute_bytes]
    for name in _LENGTH_LIMITS:
        text = variables.get(name, "").strip()
        if text and not text.isdigit():
            raise ConfigError(f"telemetry: {name}={text!r} is no number of characters: mend it or unset it")
        limits += [int(text)] if text else []
    return max(256, min(limits))


def _chosen(config: TelemetryConfig, signal: Signal, variables: Mapping[str, str]) -> ExporterKind:
    if config.signals is not None and signal not in config.signals:
        return "none"
    name = f"OTEL_{signal.upper()}_EXPORTER"
    listed = {word.strip().lower() for word in variables.get(name, "").split(",")} - {""}
    if "none" in listed and config.signals is None:
        return "none"
    if config.exporter != "auto":
        kind: ExporterKind = config.exporter
    elif listed:
        kind = "otlp" if "otlp" in listed else "none"
        if kind == "none":
            _log.warning("telemetry: %s=%s is not supported here: use otlp or none", name, ",".join(sorted(listed)))
    else:
        general = variables.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        kind = "otlp" if variables.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT") or general else "none"
    if kind == "otlp" and _protocol(variables, signal) == "grpc":
        _log.warning(
            "telemetry: no %s are sent: turngate speaks OTLP over HTTP, set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
            signal,
        )
        return "none"
    return kind


def _protocol(variables: Mapping[str, str], signal: Signal) -> str:
    general = variables.get("OTEL_EXPORTER_OTLP_PROTOCOL", "")
    return (variables.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL") or general).strip().lower()
