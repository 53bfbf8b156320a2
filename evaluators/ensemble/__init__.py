"""Several evaluators as one."""

from turngate.evaluators.ensemble.ensemble import Ensemble

__all__ = [
    "Ensemble",
]
