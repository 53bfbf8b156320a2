"""The report of a run."""

from turngate.pages.report.run.page import StripPicture, run_content, strip_picture, write_run_report
from turngate.pages.report.run.turns import Stop, images_of

__all__ = [
    "Stop",
    "StripPicture",
    "images_of",
    "run_content",
    "strip_picture",
    "write_run_report",
]
