"""Scores runs, studies, folders of images and manifests with more evaluators. Adds rows, never changes any."""

from turngate.rescoring.choice import Choice, choose, evaluator_configs
from turngate.rescoring.rescore import Rescoring, ResultCounts
from turngate.rescoring.targets import Target, find, turns_in

__all__ = [
    "Choice",
    "Rescoring",
    "ResultCounts",
    "Target",
    "choose",
    "evaluator_configs",
    "find",
    "turns_in",
]
