"""OpenTelemetry: spans of a run after the GenAI conventions, made from what the ledger records.

Importing this loads no OpenTelemetry SDK; a recorder that sends something does.
"""

from turngate.traces.telemetry.config import TelemetryConfig
from turngate.traces.telemetry.export import export_run
from turngate.traces.telemetry.recorder import TelemetryRecorder

__all__ = ["TelemetryConfig", "TelemetryRecorder", "export_run"]
