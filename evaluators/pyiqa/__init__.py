"""Adapter of pyiqa's metrics; pyiqa's licence is non-commercial, so it is imported nowhere else."""

from turngate.evaluators.pyiqa.catalogue import read_catalogue
from turngate.evaluators.pyiqa.metric import PyiqaConfig, PyiqaMetric
from turngate.evaluators.pyiqa.table import FILES
from turngate.evaluators.pyiqa.weights import files_of, write_ours

__all__ = [
    "FILES",
    "PyiqaConfig",
    "PyiqaMetric",
    "files_of",
    "read_catalogue",
    "write_ours",
]
