"""Everything that gives scores. Knows nothing of turns, gates or ledgers."""

from turngate.evaluators.evaluator import Direction, EvalInput, Evaluator, EvaluatorInput, Facts
from turngate.evaluators.result import Failed, Result, Score, Skipped, Unscored, mean_score
from turngate.registry import Registry

__all__ = [
    "EVALUATORS",
    "Direction",
    "EvalInput",
    "Evaluator",
    "EvaluatorInput",
    "Facts",
    "Failed",
    "Result",
    "Score",
    "Skipped",
    "Unscored",
    "mean_score",
]

EVALUATORS: Registry[Evaluator] = Registry(
    "evaluator",
    "turngate.evaluators",
    {
        "brisque": "turngate.evaluators.no_reference:Brisque",
        "ciede2000": "turngate.evaluators.full_reference:Ciede2000",
        "control_regions": "turngate.evaluators.full_reference:ControlRegions",
        "drift": "turngate.evaluators.drift:Drift",
        "drift_chain": "turngate.evaluators.drift:DriftChain",
        "ensemble": "turngate.evaluators.ensemble:Ensemble",
        "external": "turngate.evaluators.external:ExternalScorer",
        "gemini_judge": "turngate.evaluators.judges:GeminiJudge",
        "geometry": "turngate.evaluators.full_reference:FrameGeometry",
        "ms_ssim": "turngate.evaluators.full_reference:MsSsim",
        "niqe": "turngate.evaluators.no_reference:Niqe",
        "openai_judge": "turngate.evaluators.judges:OpenAIJudge",
        "outside_edit": "turngate.evaluators.full_reference:OutsideEdit",
        "piqe": "turngate.evaluators.no_reference:Piqe",
        "psnr": "turngate.evaluators.full_reference:Psnr",
        "pyiqa:": "turngate.evaluators.pyiqa:PyiqaMetric",
        "scripted": "turngate.evaluators.scripted:ScriptedEvaluator",
        "ssim": "turngate.evaluators.full_reference:Ssim",
        "transformers_judge": "turngate.evaluators.judges:TransformersJudge",
        "visualquality_r1": "turngate.evaluators.judges:VisualQualityR1",
    },
    former={"foreign": "external"},
    protocol=Evaluator,
)
"""Evaluators by name: one file and one line here per built-in; plug-ins by entry point or dotted path."""
