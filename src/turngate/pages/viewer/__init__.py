"""The local viewer: folders of runs and studies in the browser, live, for labelling and for review."""

from turngate.pages.viewer.app import make_app
from turngate.pages.viewer.index import VERDICTS, Index, Order, Query
from turngate.pages.viewer.labelling import LabelBook, ReviewVerdict, ViewerOptions
from turngate.pages.viewer.listing import QuickSummary, Stamp, quick_summary, stamp, walk
from turngate.pages.viewer.pages import pending_review

__all__ = [
    "VERDICTS",
    "Index",
    "LabelBook",
    "Order",
    "Query",
    "QuickSummary",
    "ReviewVerdict",
    "Stamp",
    "ViewerOptions",
    "make_app",
    "pending_review",
    "quick_summary",
    "stamp",
    "walk",
]
