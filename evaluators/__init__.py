"""Everything that gives scores. Knows nothing of turns, gates or ledgers."""

from turngate.evaluators.evaluator import Direction, Evaluator, Facts, Need, Sample
from turngate.evaluators.result import Failed, Result, Score, Skipped, Unscored
from turngate.registry import Registry

__all__ = [
    "EVALUATORS",
    "Direction",
    "Evaluator",
    "Facts",
    "Failed",
    "Need",
    "Result",
    "Sample",
    "Score",
    "Skipped",
    "Unscored",
]

_HERE = "turngate.evaluators"

EVALUATORS: Registry[Evaluator] = Registry(
    "evaluator",
    "turngate.evaluators",
    {
        "brisque": f"{_HERE}.brisque:Brisque",
        "drift": f"{_HERE}.drift:Drift",
        "niqe": f"{_HERE}.niqe:Niqe",
        "piqe": f"{_HERE}.piqe:Piqe",
        "psnr": f"{_HERE}.psnr:Psnr",
        "pyiqa:": f"{_HERE}.pyiqa:PyiqaMetric",
        "scripted": f"{_HERE}.scripted:ScriptedEvaluator",
        "ssim": f"{_HERE}.ssim:Ssim",
    },
)
"""Evaluators by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""
