"""Judges behind the chat-completions protocol: OpenAI, vLLM, Ollama, llama.cpp and others."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from turngate.component import ComponentConfig
from turngate.errors import one_line
from turngate.evaluators.judges.answer import schema_of
from turngate.evaluators.judges.config import RemoteJudgeConfig, no_answer, text_cost
from turngate.evaluators.judges.judge import Judge
from turngate.evaluators.judges.question import Ask, ModelReply, Question, ReplyEnding, SentImage
from turngate.evaluators.result import EvaluationUsage, Failed, Unscored
from turngate.providers import openai
from turngate.providers.calling import Called, KeyName, call, missing_key, read_key
from turngate.providers.prices import Prices, known_prices
from turngate.providers.server import Answered, is_fake

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

__all__ = ["OpenAIJudge", "OpenAIJudgeConfig"]

_ENDINGS: dict[str, ReplyEnding] = {"stop": "complete", "length": "truncated", "content_filter": "filtered"}


class OpenAIJudgeConfig(RemoteJudgeConfig):
    """Which model judges, and how."""

    model: str = Field(min_length=1)
    """Name as the server knows it; the model must take images."""
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    """None leaves it to the server; some models take only that."""
    detail: Literal["auto", "low", "high"] | None = None
    """How finely images are looked at, where the server knows it; `low` shrinks them there."""
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None
    """How much the model thinks, where it knows it."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    """What the server calls `max_tokens`; by default the new name for OpenAI's own server, the old one elsewhere."""
    api_key_env: KeyName = "OPENAI_API_KEY"
    """Environment variable that holds the key."""


class OpenAIJudge(Judge):
    """A model behind an OpenAI-compatible server (vLLM, Ollama, llama.cpp, OpenAI) as a judge."""

    Config: ClassVar[type[ComponentConfig]] = OpenAIJudgeConfig
    requires: ClassVar[Mapping[str, str]] = {"openai": ""}
    provider: ClassVar[str] = openai.PROVIDER

    def __init__(self, config: OpenAIJudgeConfig) -> None:
        """Raises `MissingKey` when OpenAI's own server is meant and no key is set."""
        super().__init__(config, config.model, config.parallel, deterministic=False, paid=True)
        self.config = config
        self.base_url = openai.url_of(config.base_url)
        self.prices = config.prices or known_prices(config.model)
        self._key = read_key((config.api_key_env,), f"evaluator {config.type}", config.base_url is not None)

    @classmethod
    def missing(cls, config: OpenAIJudgeConfig | None) -> str | None:
        """An API key in OPENAI_API_KEY, or a server of one's own at `base_url`."""
        if config is not None and config.base_url is not None:
            return None
        return missing_key((config.api_key_env if config else "OPENAI_API_KEY",))

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[Ask]:
        config, where = self.config, self.config.base_url or "the OpenAI API"
        async with openai.client(self._key, config.base_url, config.retry.deadline_seconds) as service:

            async def ask(question: Question) -> ModelReply | Unscored | Failed:
                fields = self._fields(question)

                async def make() -> Answered[ChatCompletion]:
                    heard = await service.chat.completions.with_raw_response.create(**fields)
                    return Answered(_checked(heard.parse()), is_fake(heard.headers))

                called: Called[Answered[ChatCompletion]] = await call(
                    make, openai.classify, config.retry, config.seed or 0
                )
                if called.answer is None:
                    return no_answer(called, config, self.model, where, config.api_key_env)
                reply = _reply(called.answer.answer, self.prices, called.waited)
                return replace(reply, fake=called.answer.fake) if isinstance(reply, ModelReply) else reply

            yield ask

    def _fields(self, question: Question) -> dict[str, Any]:
        config = self.config
        limit = config.limit_field or ("max_tokens" if config.base_url else "max_completion_tokens")
        formats: dict[str, dict[str, Any]] = {
            "json_schema": {
                "type": "json_schema",
                "json_schema": {"name": "judgement", "strict": True, "schema": schema_of(question.answer)},
            },
            "json_object": {"type": "json_object"},
        }
        fields = {
            "temperature": config.temperature,
            "seed": config.seed,
            "reasoning_effort": config.reasoning_effort,
            "response_format": formats.get(config.structured),
            limit: config.max_tokens,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        return {"model": config.model, "messages": [self._message(question)], **given}

    def _message(self, question: Question) -> dict[str, Any]:
        parts: list[dict[str, Any]] = []
        for number, image in enumerate(question.images, start=1):
            parts += [{"type": "text", "text": f"Image {number}:"}, self._part(image)]
        return {"role": "user", "content": [*parts, {"type": "text", "text": question.text}]}

    def _part(self, image: SentImage) -> dict[str, Any]:
        url = {"url": f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"}
        return {
            "type": "image_url",
            "image_url": {**url, **({"detail": self.config.detail} if self.config.detail else {})},
        }


def _checked(answer: Any) -> ChatCompletion:
    """The client library lets anything pass that a server says with status 200."""
    from openai import OpenAIError
    from openai.types.chat import ChatCompletion

    choices = getattr(answer, "choices", None)
    if not isinstance(answer, ChatCompletion) or not isinstance(choices, list):
        raise OpenAIError(f"no chat completion: {one_line(answer, 100)!r}")
    if any(getattr(choice, "message", None) is None for choice in choices):
        raise OpenAIError("a choice without a message")
    return answer


def _reply(answer: ChatCompletion, prices: Prices | None, waited: float) -> ModelReply | Failed:
    usage, model = _usage(answer, prices, waited), getattr(answer, "model", None)
    if not answer.choices:
        return Failed("provider", "empty", "the answer has no choice", usage=usage)
    message, reason = answer.choices[0].message, str(getattr(answer.choices[0], "finish_reason", None))
    refusal, content = getattr(message, "refusal", None), getattr(message, "content", None)
    if refusal:
        return ModelReply(str(refusal), "refused", model, usage, one_line(refusal, 500))
    text = content if isinstance(content, str) else ""
    return ModelReply(text, _ENDINGS.get(reason, "other"), model, usage, f"finish reason {reason}"[:200])


def _usage(answer: ChatCompletion, prices: Prices | None, waited: float) -> EvaluationUsage:
    used = answer.usage
    sent, made = getattr(used, "prompt_tokens", None), getattr(used, "completion_tokens", None)
    images = getattr(getattr(used, "prompt_tokens_details", None), "image_tokens", None)
    return EvaluationUsage(1, sent, made, text_cost(sent, images, made, prices), waited)
