"""A judge on this machine: any image-text-to-text model of transformers."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import ClassVar, Self

from PIL import Image
from pydantic import Field, model_validator

from turngate.component import ComponentConfig
from turngate.errors import ConfigError
from turngate.evaluators.judges.config import JudgeConfig, VisionModelConfig
from turngate.evaluators.judges.judge import Judge
from turngate.evaluators.judges.question import Ask, ModelReply, Question
from turngate.evaluators.judges.vision_model import VisionModel
from turngate.evaluators.result import Unscored
from turngate.weights.hub import missing_model

__all__ = ["TransformersJudge", "TransformersJudgeConfig"]


class TransformersJudgeConfig(JudgeConfig, VisionModelConfig):
    """Which model judges, and how."""

    paths: ClassVar[tuple[str, ...]] = ("folder", "prompt")
    """Fields that are paths relative to the configuration file."""

    temperature: float = Field(default=0.0, ge=0, le=2)
    """0 takes the most likely words; above, words are drawn from `seed`."""

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        if self.model is not None and self.folder is not None:
            raise ConfigError("folder: give it or `model`, not both")
        return self


class TransformersJudge(Judge):
    """An image-text-to-text model on this machine (Qwen2.5-VL, InternVL, ...) as a judge."""

    Config: ClassVar[type[ComponentConfig]] = TransformersJudgeConfig
    requires: ClassVar[Mapping[str, str]] = {"transformers": "judges", "torch": "judges"}

    def __init__(self, config: TransformersJudgeConfig) -> None:
        """Load the model; raises `MissingWeights` when it is not here, `ConfigError` when it cannot be used."""
        self.config = config
        self._vision = VisionModel(config)
        # One image set at a time: a batch cannot change a value.
        repeatable = config.temperature == 0 or config.seed is not None
        super().__init__(
            config, self._vision.name, weights=self._vision.name.rpartition("@")[2][:8], deterministic=repeatable
        )

    @classmethod
    def missing(cls, config: TransformersJudgeConfig | None) -> str | None:
        """A model in a folder, or on the hub."""
        return missing_model(config.model, config.revision, config.folder, config.type) if config else None

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[Ask]:
        async def ask(question: Question) -> ModelReply | Unscored:
            parts: list[str | Image.Image] = []
            for number, image in enumerate(question.images, start=1):
                parts += [f"Image {number}:", Image.open(io.BytesIO(image.data)).convert("RGB")]
            return self._vision.reply([*parts, question.text], self.config.temperature, self.config.seed)

        yield ask
