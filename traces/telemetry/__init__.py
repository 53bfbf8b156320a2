"""OpenTelemetry: spans, evaluation events and metrics of a run after the GenAI conventions, made from the ledger.

Importing this loads no OpenTelemetry SDK; a recorder that sends something does.
"""

from turngate.traces.telemetry.config import TelemetryConfig
from turngate.traces.telemetry.export import export_run
from turngate.traces.telemetry.place import request_headers, started_under
from turngate.traces.telemetry.providers import Dropped
from turngate.traces.telemetry.recorder import TelemetryRecorder

__all__ = ["Dropped", "TelemetryConfig", "TelemetryRecorder", "export_run", "request_headers", "started_under"]
