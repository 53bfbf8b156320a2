"""Everything that gives scores. Knows nothing of turns, gates or ledgers."""

from turngate.evaluators.evaluator import Direction, EvalInput, Evaluator, Facts, Need
from turngate.evaluators.result import Failed, Result, Score, Skipped, Unscored
from turngate.registry import Registry

__all__ = [
    "EVALUATORS",
    "Direction",
    "EvalInput",
    "Evaluator",
    "Facts",
    "Failed",
    "Need",
    "Result",
    "Score",
    "Skipped",
    "Unscored",
]

EVALUATORS: Registry[Evaluator] = Registry(
    "evaluator",
    "turngate.evaluators",
    {
        "brisque": "turngate.evaluators.no_reference.brisque:Brisque",
        "ciede2000": "turngate.evaluators.full_reference.ciede2000:Ciede2000",
        "drift": "turngate.evaluators.drift.drift:Drift",
        "drift_chain": "turngate.evaluators.drift.drift:DriftChain",
        "ensemble": "turngate.evaluators.ensemble.ensemble:Ensemble",
        "external": "turngate.evaluators.external.scorer:ExternalScorer",
        "gemini_judge": "turngate.evaluators.judges.gemini:GeminiJudge",
        "geometry": "turngate.evaluators.full_reference.geometry:FrameGeometry",
        "ms_ssim": "turngate.evaluators.full_reference.ssim:MsSsim",
        "niqe": "turngate.evaluators.no_reference.niqe:Niqe",
        "openai_judge": "turngate.evaluators.judges.openai:OpenAIJudge",
        "piqe": "turngate.evaluators.no_reference.piqe:Piqe",
        "psnr": "turngate.evaluators.full_reference.psnr:Psnr",
        "pyiqa:": "turngate.evaluators.pyiqa.metric:PyiqaMetric",
        "scripted": "turngate.evaluators.scripted:ScriptedEvaluator",
        "ssim": "turngate.evaluators.full_reference.ssim:Ssim",
        "transformers_judge": "turngate.evaluators.judges.transformers:TransformersJudge",
        "visualquality_r1": "turngate.evaluators.judges.visualquality_r1:VisualQualityR1",
    },
    former={"foreign": "external"},
)
"""Evaluators by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""
