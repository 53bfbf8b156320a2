"""VisualQuality-R1: a Qwen2.5-VL that was trained to rate pictures from 1 to 5, asked as its authors ask it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from PIL import Image
from pydantic import Field

from turngate.component import ComponentConfig
from turngate.errors import one_line
from turngate.evaluators.evaluator import EvalInput, Facts, FactsOnly
from turngate.evaluators.judges.config import VisionModelConfig
from turngate.evaluators.judges.question import ModelReply
from turngate.evaluators.judges.vision_model import VisionModel
from turngate.evaluators.result import EvaluationUsage, Failed, Result, Score, Unscored
from turngate.weights.hub import MODEL_HOLDS, missing_model

__all__ = ["VisualQualityR1", "VisualQualityR1Config", "read_rating"]

_MODEL = "TianheWu/VisualQuality-R1-7B"

QUESTION = (
    "You are doing the image quality assessment task. Here is the question: What is your overall rating on the quality "
    "of this picture? The rating should be a float between 1 and 5, rounded to two decimal places, with 1 representing "
    "very poor quality and 5 representing excellent quality."
)
THINKING = (
    " First output the thinking process in <think> </think> tags and then output the final answer with only one score "
    "in <answer> </answer> tags."
)
PLAIN = " Please only output the final answer with only one score in <answer> </answer> tags."


class VisualQualityR1Config(VisionModelConfig):
    """How the rating is taken."""

    model: str | None = _MODEL
    """Repository on the hub (16 GB). Only safetensors are read: they cannot run code."""
    max_new_tokens: int = Field(default=2048, ge=1)
    """Longest answer. One that is cut there gives no score."""
    thinking: bool = True
    """Let the model think first."""
    answers: int = Field(default=1, ge=1, le=100)
    """1: the most likely answer. More: the mean of that many that are drawn, each from a seed of its own."""
    temperature: float = Field(default=1.0, gt=0, le=2)
    """For several answers."""
    top_k: int = Field(default=50, ge=0)
    """For several answers: draw among that many words; 0 for all."""
    seed: int = Field(default=0, ge=0, lt=2**31)
    """Seed of the first answer; the following ones count up from it."""


class VisualQualityR1:
    """VisualQuality-R1 (arXiv 2505.14460): overall quality, 1 to 5, without a reference.

    The rating is the first number in the last `<answer>`. An answer without one is `Unscored("parse")`, one outside
    1..5 `Failed("range")`. The authors' script draws answers, lets numbers outside the scale pass and returns a random
    number where it finds none; nothing of that is done here.
    """

    Config: ClassVar[type[ComponentConfig]] = VisualQualityR1Config
    requires: ClassVar[Mapping[str, str]] = {"transformers": "judges", "torch": "judges"}

    facts = Facts(
        name="visualquality_r1",
        version="1",
        direction="higher",
        range=(1.0, 5.0),
        weights=_MODEL,
        weights_licence="see the model's page; the authors' code is Apache-2.0",
        source="VisualQuality-R1, arXiv 2505.14460; the authors' prompt",
        size_scored="as the model's processor resizes",
        judge=True,
    )

    def __init__(self, config: VisualQualityR1Config) -> None:
        """Load the model; raises `MissingWeights` when it is not here."""
        self.config = config
        self._model = VisionModel(config)
        self._question = QUESTION + (THINKING if config.thinking else PLAIN)
        self.facts = replace(
            type(self).facts, version=f"1+{self._model.name.rpartition('@')[2][:8]}", weights=self._model.name
        )

    @classmethod
    def missing(cls, config: VisualQualityR1Config | None) -> str | None:
        """Its weights (16 GB) in a folder, or on the hub."""
        config = config or VisualQualityR1Config(type="visualquality_r1")
        return missing_model(config.model, config.revision, config.folder, config.type, MODEL_HOLDS)

    @classmethod
    def outline(cls, config: VisualQualityR1Config) -> FactsOnly:
        """Its facts, without the model."""
        return FactsOnly(cls.facts)

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Rate each candidate by itself. Raises `MachineError` when memory does not suffice."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: EvalInput) -> Result:
        picture = Image.fromarray(sample.candidate.rgb)
        flags = (f"model:{self._model.name}", f"sent:candidate:{picture.width}x{picture.height}")
        usage, replies, ratings = EvaluationUsage(), list[str](), list[float]()
        for number in range(self.config.answers):
            reply = self._reply(picture, number)
            usage += reply.usage or EvaluationUsage()
            if isinstance(reply, ModelReply):
                replies.append(reply.text)
            rating = reply if isinstance(reply, Unscored) else _read(reply)
            if isinstance(rating, Unscored | Failed):
                which = f"answer {number + 1} of {self.config.answers}: " if self.config.answers > 1 else ""
                return replace(rating, detail=which + rating.detail, flags=flags, usage=usage, answers=tuple(replies))
            ratings.append(rating)
        mean = math.fsum(ratings) / len(ratings)
        if len(ratings) == 1:
            return Score(mean, explanation=replies[0].strip(), flags=flags, usage=usage, answers=tuple(replies))
        parts = {f"answer_{number}": rating for number, rating in enumerate(ratings, start=1)}
        return Score(mean, components=parts, flags=flags, usage=usage, answers=tuple(replies))

    def _reply(self, picture: Image.Image, number: int) -> ModelReply | Unscored:
        parts: list[str | Image.Image] = [picture, self._question]
        if self.config.answers == 1:
            return self._model.reply(parts)
        return self._model.reply(parts, self.config.temperature, self.config.seed + number, self.config.top_k)


def _read(reply: ModelReply) -> float | Unscored | Failed:
    return Unscored("truncated", reply.detail) if reply.ending == "truncated" else read_rating(reply.text)


def read_rating(text: str) -> float | Unscored | Failed:
    """The first number in the last `<answer>`; `Unscored("parse")` without one, `Failed("range")` outside 1..5."""
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    shown = repr(one_line(text)[-200:])
    if not found:
        return Unscored("parse", f"no <answer> in {shown}" if text.strip() else "the answer is empty")
    number = re.search(r"(?<![\w.,])[+-]?[0-9]+(?:\.[0-9]+)?(?![\w.,]*\w)", found[-1])
    if number is None:
        return Unscored("parse", f"no number in the last <answer> of {shown}")
    rating = float(number[0])
    return rating if 1 <= rating <= 5 else Failed("provider", "range", f"{number[0][:40]} is outside 1..5")
