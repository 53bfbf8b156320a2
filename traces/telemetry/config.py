"""Where telemetry goes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["TelemetryConfig"]


class TelemetryConfig(BaseModel):
    """Telemetry settings of a run; they never change what the run does."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    exporter: Literal["auto", "none", "jsonl", "otlp"] = "auto"
    """`auto`: OTLP/HTTP when the standard OTEL_* variables ask for it, otherwise none. `jsonl`: telemetry.jsonl in
    the run folder."""
    capture_content: bool = False
    """Record instructions, reasoning summaries and image references on the spans (never image bytes)."""
