"""People's verdicts about images."""

from turngate.traces.analysis.labels.agreement import LabelAgreement, agreements, verdicts_of
from turngate.traces.analysis.labels.file import COLUMNS, append_label, append_labels, read_labels
from turngate.traces.analysis.labels.labels import LabelRow, Labels, images_by_place, with_labels
from turngate.traces.analysis.labels.queue import QueuedImage, label_queue

__all__ = [
    "COLUMNS",
    "LabelAgreement",
    "LabelRow",
    "Labels",
    "QueuedImage",
    "agreements",
    "append_label",
    "append_labels",
    "images_by_place",
    "label_queue",
    "read_labels",
    "verdicts_of",
    "with_labels",
]
