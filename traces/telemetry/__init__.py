"""OpenTelemetry: spans, evaluation events and metrics of a run after the GenAI conventions, made from the ledger.

Importing this loads no OpenTelemetry SDK; a recorder that sends something does.
"""

from turngate.traces.telemetry.config import TelemetryConfig
from turngate.traces.telemetry.dropped import Dropped
from turngate.traces.telemetry.export import export_run
from turngate.traces.telemetry.propagation import request_headers
from turngate.traces.telemetry.recorder import TelemetryRecorder
from turngate.traces.telemetry.trace_context import started_under

__all__ = ["Dropped", "TelemetryConfig", "TelemetryRecorder", "export_run", "request_headers", "started_under"]
