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
        "ciede2000": f"{_HERE}.ciede2000:Ciede2000",
        "drift": f"{_HERE}.drift:Drift",
        "drift_chain": f"{_HERE}.drift_chain:DriftChain",
        "ensemble": f"{_HERE}.ensemble:Ensemble",
        "foreign": f"{_HERE}.foreign:ForeignScorer",
        "gemini_judge": f"{_HERE}.judges.gemini:GeminiJudge",
        "geometry": f"{_HERE}.geometry:FrameGeometry",
        "ms_ssim": f"{_HERE}.ms_ssim:MsSsim",
        "niqe": f"{_HERE}.niqe:Niqe",
        "openai_judge": f"{_HERE}.judges.openai:OpenAIJudge",
        "piqe": f"{_HERE}.piqe:Piqe",
        "psnr": f"{_HERE}.psnr:Psnr",
        "pyiqa:": f"{_HERE}.pyiqa:PyiqaMetric",
        "scripted": f"{_HERE}.scripted:ScriptedEvaluator",
        "ssim": f"{_HERE}.ssim:Ssim",
        "transformers_judge": f"{_HERE}.judges.transformers:TransformersJudge",
        "visualquality_r1": f"{_HERE}.visualquality_r1:VisualQualityR1",
    },
)
"""Evaluators by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""
