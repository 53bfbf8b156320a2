"""Pages that explain a run or a study in one look. They read analysis, never a ledger, and open without network."""

from turngate.pages.report.page import HERE, as_data, clip, data, environment, scripts, visible
from turngate.pages.report.thumbnails import Shot, edge_for, thumbnail

__all__ = [
    "HERE",
    "Shot",
    "as_data",
    "clip",
    "data",
    "edge_for",
    "environment",
    "scripts",
    "thumbnail",
    "visible",
]
