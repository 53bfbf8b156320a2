"""Gemini models as judges, called directly through google-genai."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from turngate.component import ComponentConfig
from turngate.errors import one_line
from turngate.evaluators.judges.answer import schema_of
from turngate.evaluators.judges.config import RemoteJudgeConfig, no_answer, text_cost
from turngate.evaluators.judges.judge import Judge
from turngate.evaluators.judges.question import Ask, ModelReply, Question, ReplyEnding
from turngate.evaluators.result import EvaluationUsage, Failed, Unscored
from turngate.providers import gemini
from turngate.providers.calling import Called, KeyName, call, missing_key, read_key
from turngate.providers.gemini import FILTERS, blocked, count, finish_reason
from turngate.providers.prices import Prices, known_prices

if TYPE_CHECKING:
    from google.genai.types import Content, GenerateContentConfig, GenerateContentResponse

__all__ = ["GeminiJudge", "GeminiJudgeConfig"]

_ENDINGS: dict[str, ReplyEnding] = {
    "STOP": "complete",
    "MAX_TOKENS": "truncated",
    **dict.fromkeys(FILTERS, "filtered"),
}


class GeminiJudgeConfig(RemoteJudgeConfig):
    """Which model judges, and how."""

    model: str = Field(min_length=1)
    """Name of a Gemini model that answers with text."""
    temperature: float | None = Field(default=1.0, ge=0, le=2)
    """Google advises 1.0 for Gemini 3: lower values may loop or degrade. None leaves it to the model."""
    thinking_level: Literal["minimal", "low", "medium", "high"] | None = None
    """How much the model thinks; its own default where left out. Not every model knows every level."""
    media_resolution: Literal["low", "medium", "high"] | None = None
    """How finely images are looked at; the model's default where left out."""
    api_key_env: KeyName = "GEMINI_API_KEY"
    """Environment variable that holds the key; GOOGLE_API_KEY is looked at too."""


class GeminiJudge(Judge):
    """A Gemini model as a judge: marks, comparisons or yes/no checks with reasons."""

    Config: ClassVar[type[ComponentConfig]] = GeminiJudgeConfig
    requires: ClassVar[Mapping[str, str]] = {"google.genai": ""}
    provider: ClassVar[str] = gemini.PROVIDER

    def __init__(self, config: GeminiJudgeConfig) -> None:
        """Raises `MissingKey` when Google's own server is meant and no key is set."""
        super().__init__(config, config.model, config.parallel, deterministic=False, paid=True)
        self.config = config
        self.base_url = gemini.url_of(config.base_url)
        self.prices = config.prices or known_prices(config.model)
        names = (config.api_key_env, "GOOGLE_API_KEY")
        self._key = read_key(names, f"evaluator {config.type}", config.base_url is not None)

    @classmethod
    def missing(cls, config: GeminiJudgeConfig | None) -> str | None:
        """An API key in GEMINI_API_KEY."""
        if config is not None and config.base_url is not None:
            return None
        return missing_key((config.api_key_env if config else "GEMINI_API_KEY", "GOOGLE_API_KEY"))

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[Ask]:
        config, where = self.config, self.config.base_url or "the Gemini API"
        client = gemini.client(self._key, config.base_url, config.retry.deadline_seconds)
        async with client.aio as service:

            async def ask(question: Question) -> ModelReply | Unscored | Failed:
                said, settings = _content(question), self._settings(question)
                called: Called[GenerateContentResponse] = await call(
                    lambda: service.models.generate_content(model=self.model, contents=said, config=settings),
                    gemini.classify,
                    config.retry,
                    config.seed or 0,
                )
                if called.answer is None:
                    return no_answer(called, config, self.model, where, config.api_key_env)
                reply = _reply(called.answer, self.prices, called.waited)
                fake = gemini.is_from_fake(called.answer)
                return replace(reply, fake=fake) if isinstance(reply, ModelReply) else reply

            yield ask

    def _settings(self, question: Question) -> GenerateContentConfig:
        from google.genai import types

        config = self.config
        level = types.ThinkingLevel(config.thinking_level.upper()) if config.thinking_level else None
        resolution = f"MEDIA_RESOLUTION_{config.media_resolution.upper()}" if config.media_resolution else None
        return types.GenerateContentConfig(
            temperature=config.temperature,
            seed=config.seed,
            max_output_tokens=config.max_tokens,
            response_mime_type="application/json" if config.structured != "text" else None,
            response_json_schema=schema_of(question.answer) if config.structured == "json_schema" else None,
            thinking_config=types.ThinkingConfig(thinking_level=level) if level else None,
            media_resolution=types.MediaResolution(resolution) if resolution else None,
        )


def _content(question: Question) -> Content:
    from google.genai.types import Content, Part

    parts = []
    for number, image in enumerate(question.images, start=1):
        parts += [
            Part.from_text(text=f"Image {number}:"),
            Part.from_bytes(data=image.data, mime_type=image.media_type),
        ]
    return Content(role="user", parts=[*parts, Part.from_text(text=question.text)])


def _reply(response: GenerateContentResponse, prices: Prices | None, waited: float) -> ModelReply | Failed:
    usage, model = _usage(response, prices, waited), response.model_version
    candidate = response.candidates[0] if response.candidates else None
    if candidate is None:
        why = blocked(response)
        if why is not None:
            return ModelReply("", "filtered", model, usage, f"the prompt was blocked: {why}")
        return Failed("provider", "empty", "the answer has no candidate", usage=usage)
    reason = finish_reason(candidate) or "none"
    parts = (candidate.content.parts or []) if candidate.content else []
    text = "".join(part.text for part in parts if part.text and not part.thought)
    detail = one_line(f"{reason} {candidate.finish_message or ''}", 500)
    return ModelReply(text, _ENDINGS.get(reason, "other"), model, usage, detail)


def _usage(response: GenerateContentResponse, prices: Prices | None, waited: float) -> EvaluationUsage:
    used = count(response)
    return EvaluationUsage(1, used.sent, used.made, text_cost(used.sent, used.sent_images, used.made, prices), waited)
