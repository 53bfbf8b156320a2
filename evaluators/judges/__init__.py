"""Vision-language models as evaluators: one way to ask and to read the answer, three ways to reach a model."""

from turngate.evaluators.judges.answer import answer_model, mark, read_answer, schema_of, word
from turngate.evaluators.judges.config import VisionModelConfig, presets, read_form
from turngate.evaluators.judges.gemini import GeminiJudge
from turngate.evaluators.judges.openai import OpenAIJudge
from turngate.evaluators.judges.prompt import OwnWords, Prompt
from turngate.evaluators.judges.question import send
from turngate.evaluators.judges.vision_model import TransformersJudge, TransformersJudgeConfig, VisionModel
from turngate.evaluators.judges.visualquality_r1 import VisualQualityR1, read_rating

__all__ = [
    "GeminiJudge",
    "OpenAIJudge",
    "OwnWords",
    "Prompt",
    "TransformersJudge",
    "TransformersJudgeConfig",
    "VisionModel",
    "VisionModelConfig",
    "VisualQualityR1",
    "answer_model",
    "mark",
    "presets",
    "read_answer",
    "read_form",
    "read_rating",
    "schema_of",
    "send",
    "word",
]
