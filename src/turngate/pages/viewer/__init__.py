"""The local viewer: folders of runs and studies in the browser, live, for labelling and for review."""

from turngate.pages.viewer.app import make_app
from turngate.pages.viewer.index import Index
from turngate.pages.viewer.labelling import LabelBook, ReviewVerdict, ViewerOptions
from turngate.pages.viewer.listing import QuickSummary, Stamp, quick_summary, stamp, walk
from turngate.pages.viewer.notes import Note, NoteBook
from turngate.pages.viewer.pages import pending_review
from turngate.pages.viewer.query import VERDICTS, Order, Query

__all__ = [
    "VERDICTS",
    "Index",
    "LabelBook",
    "Note",
    "NoteBook",
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
