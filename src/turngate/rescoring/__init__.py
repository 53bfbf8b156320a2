"""Scores what is there already: runs, studies, folders of images, manifests. Adds rows, never changes any."""

from turngate.rescoring.choice import Choice, choose, named
from turngate.rescoring.rescore import Rescoring, Tally
from turngate.rescoring.targets import Target, find, turns_in

__all__ = [
    "Choice",
    "Rescoring",
    "Tally",
    "Target",
    "choose",
    "find",
    "named",
    "turns_in",
]
