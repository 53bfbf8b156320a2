"""What telemetry says and where it goes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Signal", "TelemetryConfig"]

Signal = Literal["traces", "logs", "metrics"]
"""Spans; evaluation events, which OpenTelemetry counts among the logs; metrics."""


class TelemetryConfig(BaseModel):
    """Telemetry settings of a run; they never change what the run does."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

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
