"""The report of a run."""

from turngate.pages.report.run.page import run_content, write_run_report
from turngate.pages.report.run.turns import Stop, images_of

__all__ = [
    "Stop",
    "images_of",
    "run_content",
    "write_run_report",
]
