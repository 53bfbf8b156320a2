"""The failure taxonomy: what went wrong in an image."""

from turngate.traces.analysis.failures.rules import LABEL_FILE, RunFailures, find_failures

__all__ = [
    "LABEL_FILE",
    "RunFailures",
    "find_failures",
]
