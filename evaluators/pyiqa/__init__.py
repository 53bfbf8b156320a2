"""Adapter of pyiqa's metrics; pyiqa's licence is non-commercial, so it is imported nowhere else."""

from turngate.evaluators.pyiqa.catalogue import read_catalogue
from turngate.evaluators.pyiqa.metric import PyiqaConfig, PyiqaMetric
from turngate.evaluators.pyiqa.weights import write_ours

__all__ = [
    "PyiqaConfig",
    "PyiqaMetric",
    "read_catalogue",
    "write_ours",
]
