"""The page of a study."""

from turngate.pages.report.study.page import study_content, write_study_page

__all__ = [
    "study_content",
    "write_study_page",
]
