"""People's verdicts about images."""

from turngate.traces.analysis.labels.file import COLUMNS, append_label, append_labels, read_labels
from turngate.traces.analysis.labels.labels import LabelRow, Labels, with_labels

__all__ = [
    "COLUMNS",
    "LabelRow",
    "Labels",
    "append_label",
    "append_labels",
    "read_labels",
    "with_labels",
]
